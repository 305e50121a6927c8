import Foundation
import MerchantTestSupport
import Testing

/// A daemon of its own in a directory of its own, made of the real programs; gone when the test ends.
final class Installation: Sendable {
    struct Outcome: Sendable {
        let status: Int32
        let bytes: Data
        let error: String

        var output: String { String(decoding: bytes, as: UTF8.self) }

        /// The output as JSON, for programs.
        func json() throws -> [String: Any] {
            try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any], "\(output) \(error)")
        }

        /// Of the daemon's refusal, as merchantkeyctl prints it: "refused: CODE: detail".
        var refusalCode: String? {
            error.firstMatch(of: #/(?m)^refused: (\w+): /#).map { String($0.1) }
        }

        func text(_ name: String) throws -> String { try #require(try json()[name] as? String, "\(output)") }
    }

    static let programs = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().path
    /// Whether Python is here with the package that mints tokens.
    static let hasPython = (try? run(["python3", "-c", "import cryptography"]).status) == 0
    static let fixtures = ProcessInfo.processInfo.environment["MERCHANTKEYD_FIXTURES"]

    let directory: String
    private let daemon = Guarded<Process?>(nil)

    init() throws {
        directory = "/tmp/mkd-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        daemon.value?.terminate()
        daemon.value?.waitForExit()
        try? FileManager.default.removeItem(atPath: directory)
    }

    func path(_ name: String) -> String { "\(directory)/\(name)" }

    /// Of the running daemon.
    var process: Int32? { daemon.value?.processIdentifier }

    var log: String { (try? String(contentsOfFile: path("daemon.log"), encoding: .utf8)) ?? "" }

    /// Waits at most ten seconds until a condition holds that another process brings about.
    func eventually(_ what: String, _ isSo: () throws -> Bool) throws {
        let end = ContinuousClock.now + .seconds(10)
        while ContinuousClock.now < end {
            if try isSo() { return }
            Thread.sleep(forTimeInterval: 0.01)
        }
        Issue.record("not within ten seconds: \(what): \(log.suffix(2000))")
    }

    /// Returns in the next whole second of the clock, for what is recorded in seconds.
    static func waitForNextSecond() {
        let now = time(nil)
        while time(nil) == now { usleep(5_000) }
    }

    var adminSocket: String { path("state/admin.sock") }
    var decryptorSocket: String { path("state/decryptor.sock") }

    func write(_ text: String, _ name: String) throws -> String {
        try text.write(toFile: path(name), atomically: true, encoding: .utf8)
        return path(name)
    }

    /// Starts the daemon and returns when it answers on both sockets.
    func start(
        config: String? = nil, answering expected: Set<String> = ["200"], _ arguments: [String] = [],
        environment: [String: String] = [:]
    ) throws {
        let process = Process()
        process.executableURL = URL(filePath: "\(Self.programs)/merchantkeyd")
        process.arguments = ["--state-directory", path("state")] + (config.map { ["--config", $0] } ?? []) + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        _ = FileManager.default.createFile(atPath: path("daemon.log"), contents: nil)
        process.standardError = FileHandle(forWritingAtPath: path("daemon.log"))
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        daemon.value = process
        let end = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < end {
            if expected.contains(try curl(decryptorSocket, "/v1/health").output),
                expected.contains(try curl(adminSocket, "/v1/health").output)
            {
                return
            }
            guard process.isRunning else { break }
            Thread.sleep(forTimeInterval: 0.01)
        }
        Issue.record(
            "the daemon did not answer: \(process.isRunning ? "running" : "ended, \(process.terminationReason) \(process.terminationStatus)"): \(log)"
        )
    }

    /// Ends the daemon, by default as a service manager does.
    @discardableResult
    func stop(_ signal: CInt = SIGTERM) -> Int32 {
        guard let process = daemon.value else { return -1 }
        // The number of a process that has ended may be another one's by now.
        if process.isRunning { kill(process.processIdentifier, signal) }
        process.waitForExit()
        daemon.value = nil
        return process.terminationStatus
    }

    func restart(_ signal: CInt = SIGKILL) throws {
        stop(signal)
        try start()
    }

    /// Runs merchantkeyd to its end, for starts that must be refused; one that serves instead is killed after a minute.
    func failedStart(_ arguments: String...) throws -> Outcome { try failedStart(arguments) }

    func failedStart(_ arguments: [String]) throws -> Outcome {
        try Self.run(["timeout", "--signal=KILL", "60", "\(Self.programs)/merchantkeyd"] + arguments)
    }

    func ctl(_ arguments: String..., input: String? = nil) throws -> Outcome {
        try Self.run(["\(Self.programs)/merchantkeyctl", "--socket", adminSocket] + arguments, input: input)
    }

    /// As above, as JSON; fails the test unless it succeeded.
    func ctlJSON(_ arguments: String...) throws -> [String: Any] {
        let outcome = try Self.run(
            ["\(Self.programs)/merchantkeyctl", "--socket", adminSocket, "--output", "json"] + arguments)
        #expect(outcome.status == 0, "\(arguments): \(outcome.error)")
        return try outcome.json()
    }

    func apple(_ arguments: String...) throws {
        let apple = path("apple")
        try FileManager.default.createDirectory(atPath: apple, withIntermediateDirectories: true)
        let outcome = try Self.run(["\(Self.programs)/applepay-sandbox"] + arguments + ["--directory", apple])
        try #require(outcome.status == 0, "\(arguments): \(outcome.error)")
    }

    /// The status alone, by default.
    func curl(_ socket: String, _ path: String, _ arguments: String...) throws -> Outcome {
        try Self.run(
            ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "--unix-socket", socket] + arguments
                + ["http://localhost\(path)"])
    }

    /// The body.
    func curlBody(_ socket: String, _ path: String, _ arguments: String...) throws -> Outcome {
        try Self.run(["curl", "-s", "--unix-socket", socket] + arguments + ["http://localhost\(path)"])
    }

    /// A key pair with the sandbox's certificate, uploaded: its publicKeyHash.
    func certifiedKey(_ merchant: String, _ name: String, _ options: String...) throws -> String {
        let generated = try Self.run(
            [
                "\(Self.programs)/merchantkeyctl", "--socket", adminSocket, "--output", "json", "key", "generate",
                merchant,
                "--csr", path("\(name).csr"),
            ] + options)
        try #require(generated.status == 0, "\(generated.error)")
        let purpose = options.contains("identity") ? ["--purpose", "identity"] : []
        let issued = try Self.run(
            [
                "\(Self.programs)/applepay-sandbox", "issue", "--csr", path("\(name).csr"), "--merchant", merchant,
                "--out",
                path("\(name).cer"), "--directory", path("apple"),
            ] + purpose)
        try #require(issued.status == 0, "\(issued.error)")
        let uploaded = try ctl("certificate", "upload", path("\(name).cer"))
        try #require(uploaded.status == 0, "\(uploaded.error)")
        return try generated.text("publicKeyHash")
    }

    static func run(_ command: [String], input: String? = nil) throws -> Outcome {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = command
        // Files, not pipes: no program can block on output that nobody reads yet.
        let scratch = "/tmp/mkd-run-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: scratch, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: scratch) }
        for name in ["out", "err"] { _ = FileManager.default.createFile(atPath: "\(scratch)/\(name)", contents: nil) }
        if let input {
            try Data(input.utf8).write(to: URL(filePath: "\(scratch)/in"))
            process.standardInput = FileHandle(forReadingAtPath: "\(scratch)/in")
        } else {
            process.standardInput = FileHandle.nullDevice
        }
        process.standardOutput = FileHandle(forWritingAtPath: "\(scratch)/out")
        process.standardError = FileHandle(forWritingAtPath: "\(scratch)/err")
        try process.run()
        process.waitForExit()
        return Outcome(
            status: process.terminationStatus, bytes: try Data(contentsOf: URL(filePath: "\(scratch)/out")),
            error: try String(contentsOfFile: "\(scratch)/err", encoding: .utf8))
    }
}

/// A value behind a lock.
final class Guarded<Value>: @unchecked Sendable {
    // Proof for @unchecked Sendable: the value is touched only while the lock is held.
    private let lock = NSLock()
    private var stored: Value

    init(_ value: Value) { stored = value }

    var value: Value {
        get { lock.withLock { stored } }
        set { lock.withLock { stored = newValue } }
    }

    func update<Result>(_ change: (inout Value) -> Result) -> Result { lock.withLock { change(&stored) } }
}

/// Base64url without padding, as our paths spell a publicKeyHash.
func pathSpelling(_ base64: String) -> String {
    base64.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
        .replacingOccurrences(of: "=", with: "")
}
