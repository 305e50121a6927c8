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
    private let daemon = Guarded<ChildProcess?>(nil)

    init() throws {
        directory = "/tmp/mkd-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        daemon.value?.signal(SIGTERM)
        daemon.value?.wait()
        try? FileManager.default.removeItem(atPath: directory)
    }

    func path(_ name: String) -> String { "\(directory)/\(name)" }

    /// Of the running daemon.
    var process: Int32? { daemon.value?.id }

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
        let process = try ChildProcess(
            ["\(Self.programs)/merchantkeyd", "--state-directory", path("state")]
                + (config.map { ["--config", $0] } ?? []) + arguments,
            error: .file(path("daemon.log")),
            environment: ProcessInfo.processInfo.environment.merging(environment) { $1 })
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
            "the daemon did not answer: \(process.isRunning ? "running" : "ended, \(process.wait())"): \(log)"
        )
    }

    /// Ends the daemon, by default as a service manager does.
    @discardableResult
    func stop(_ signal: CInt = SIGTERM) -> Int32 {
        guard let process = daemon.value else { return -1 }
        process.signal(signal)
        daemon.value = nil
        return process.wait().status
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

    /// Starts merchantkeyctl and does not wait for its end.
    func startCtl(_ arguments: String...) throws -> ChildProcess { try startCtl(arguments) }

    /// - Parameters:
    ///   - output: the path of a file for standard output; nil to discard it.
    ///   - error: the same for standard error.
    func startCtl(_ arguments: [String], output: String? = nil, error: String? = nil) throws -> ChildProcess {
        try ChildProcess(
            ["\(Self.programs)/merchantkeyctl", "--socket", adminSocket] + arguments,
            output: output.map { .file($0) } ?? .discarded, error: error.map { .file($0) } ?? .discarded)
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
        let outcome = try ChildProcess.run(command, input: (input ?? "").utf8)
        return Outcome(status: outcome.status, bytes: Data(outcome.outputBytes), error: outcome.error)
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
