import Foundation
import MerchantTestSupport
import Testing

/// A daemon with a directory of its own, run from the real programs. When this value is released, the daemon is stopped
/// and the directory is removed.
final class Installation: Sendable {
    /// Where the build puts the programs.
    static let programs = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().path
    /// Whether `python3` and its package `cryptography` are installed.
    static let hasPython = ChildProcess.succeeds("python3", "-c", "import cryptography")
    static let hasPythonSQLite = ChildProcess.succeeds("python3", "-c", "import sqlite3")
    static let fixtures = ProcessInfo.processInfo.environment["MERCHANTKEYD_FIXTURES"]

    private let scratch: Scratch
    let store: TestStore
    private let daemon = Guarded<ChildProcess?>(nil)

    init() throws {
        scratch = try Scratch()
        store = try TestStore()
    }

    deinit {
        daemon.value?.signal(SIGTERM)
        daemon.value?.wait()
    }

    var directory: String { scratch.directory }
    var stateDirectory: String { path("state") }
    var database: String { path("state/merchantkeyd.sqlite") }
    var adminSocket: String { path("state/admin.sock") }
    var decryptorSocket: String { path("state/decryptor.sock") }

    /// The process identifier of the daemon; nil before `start` and after `stop`.
    var process: Int32? { daemon.value?.id }

    var isRunning: Bool { daemon.value?.isRunning ?? false }

    /// What the daemon has logged since its last start.
    var log: String { (try? String(contentsOfFile: path("daemon.log"), encoding: .utf8)) ?? "" }

    func path(_ name: String) -> String { scratch.path(name) }

    /// - Returns: the file's path.
    func write(_ text: String, _ name: String) throws -> String { try scratch.write(text, name) }

    /// Creates an empty state directory, as an operator does before a restore.
    func createStateDirectory() throws {
        try FileManager.default.createDirectory(
            atPath: stateDirectory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    /// Starts the daemon and returns when it responds on both sockets.
    ///
    /// - Parameter expected: the statuses of `/v1/health` that end the wait.
    func start(
        config: String? = nil, answering expected: Set<String> = ["200"], _ arguments: [String] = [],
        environment: [String: String] = [:]
    ) throws {
        let process = try ChildProcess(
            ["\(Self.programs)/merchantkeyd", "--state-directory", stateDirectory]
                + (config.map { ["--config", $0] } ?? []) + arguments,
            error: .file(path("daemon.log")),
            environment: ChildProcess.inheritedEnvironment.merging(try store.variables) { $1 }.merging(environment) {
                $1
            })
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
            "the daemon did not respond: \(process.isRunning ? "running" : "ended, \(process.wait())"): \(log)")
    }

    /// Stops the daemon, by default as a service manager does.
    ///
    /// - Returns: its exit status, or the number of the signal that ended it; -1 if no daemon ran.
    @discardableResult
    func stop(_ signal: CInt = SIGTERM) -> Int32 {
        guard let process = daemon.value else { return -1 }
        process.signal(signal)
        daemon.value = nil
        return process.wait().status
    }

    /// Stops the daemon, by default without a clean shutdown, and starts it without a settings file.
    func restart(_ signal: CInt = SIGKILL) throws {
        stop(signal)
        try start()
    }

    /// Runs a start that must be refused. A daemon that serves instead is killed after a minute.
    func failedStart(_ arguments: String...) throws -> Outcome { try failedStart(arguments) }

    func failedStart(_ arguments: [String]) throws -> Outcome {
        try Self.run(["timeout", "--signal=KILL", "60", "\(Self.programs)/merchantkeyd"] + arguments)
    }

    /// Expects that the start on the state directory is refused with this finding.
    func expectRefusedStart(
        _ finding: String, _ arguments: [String] = [], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let outcome = try failedStart(["--state-directory", stateDirectory] + arguments)
        #expect(outcome.status == 1, sourceLocation: sourceLocation)
        #expect(outcome.startFinding == finding, "\(outcome.error)", sourceLocation: sourceLocation)
    }
}

extension Installation {
    /// Waits until a condition holds that another process must fulfil. Records an issue after the limit.
    func eventually(
        _ condition: String, within limit: Duration = .seconds(10), sourceLocation: SourceLocation = #_sourceLocation,
        _ holds: () throws -> Bool
    ) throws {
        let end = ContinuousClock.now + limit
        while ContinuousClock.now < end {
            if try holds() { return }
            Thread.sleep(forTimeInterval: 0.01)
        }
        Issue.record("not within \(limit): \(condition): \(log.suffix(2000))", sourceLocation: sourceLocation)
    }

    /// Waits for the next whole second of the clock. Two times that are stored in whole seconds then differ.
    static func waitForNextSecond() { wait(until: Date(timeIntervalSince1970: Double(time(nil) + 1))) }

    /// Waits until this time by the machine's clock.
    static func wait(until time: Date) { while Date() < time { Thread.sleep(forTimeInterval: 0.005) } }

    /// Waits for a random number of seconds, so that the kills of many rounds hit different parts of the work.
    static func waitRandomly(upTo longest: Double, atLeast shortest: Double = 0) {
        Thread.sleep(forTimeInterval: Double.random(in: shortest...longest))
    }
}
