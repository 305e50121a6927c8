import Foundation
import Glibc
import MerchantTestSupport
import Testing

/// The real `merchantkeyctl`, built beside the tests.
struct Program {
    struct Transcript: Equatable {
        let status: Int32
        let output: String
        let error: String
    }

    /// The content of standard input.
    enum Input {
        case nothing
        case bytes(String)
        /// A terminal at which a user types this text.
        case terminal(String)
    }

    let directory: String

    /// Creates the directory. The caller removes it with ``remove()``.
    init() throws {
        var template = Array("/tmp/mkctl.XXXXXX".utf8CString)
        directory = String(cString: try #require(mkdtemp(&template)))
    }

    func remove() { try? FileManager.default.removeItem(atPath: directory) }

    func path(_ name: String) -> String { "\(directory)/\(name)" }

    func write(_ text: String, to name: String) throws -> String {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path(name)))
        return path(name)
    }

    /// Runs `merchantkeyctl` with the directory as its home, so that it finds no daemon of the user who runs the tests.
    func run(
        _ arguments: [String], input: Input = .nothing, environment: [String: String] = [:]
    ) async throws -> Transcript {
        try await run(command: [try Self.executable()] + arguments, input: input, environment: environment)
    }

    /// Runs a shell command line that finds `merchantkeyctl` in its `PATH`.
    func run(line: String) async throws -> Transcript {
        let programs = URL(fileURLWithPath: try Self.executable()).deletingLastPathComponent().path
        return try await run(
            command: ["/bin/sh", "-c", line], input: .nothing, environment: ["PATH": "\(programs):/usr/bin:/bin"])
    }

    private func run(command: [String], input: Input, environment: [String: String]) async throws -> Transcript {
        let number = UUID().uuidString
        let (output, error) = (path("\(number).out"), path("\(number).err"))
        defer { for file in [output, error] { try? FileManager.default.removeItem(atPath: file) } }
        var terminal: (near: Int32, far: Int32)?
        defer { if let terminal { _ = (close(terminal.near), close(terminal.far)) } }
        let standardInput: ChildProcess.Input
        switch input {
        case .nothing: standardInput = .empty
        case .bytes(let text): standardInput = .file(try write(text, to: "\(number).in"))
        case .terminal(let typed):
            let opened = try Self.openTerminal()
            terminal = opened
            standardInput = .descriptor(opened.far)
            _ = Array(typed.utf8).withUnsafeBytes { Glibc.write(opened.near, $0.baseAddress, $0.count) }
        }
        let process = try ChildProcess(
            command, input: standardInput, output: .file(output), error: .file(error),
            environment: ["HOME": directory, "PATH": "/usr/bin:/bin"].merging(environment) { $1 }, directory: directory)
        // Waits for the program's end on a thread of its own, because a server in this process needs the threads of the
        // concurrency pool.
        let status = await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: process.wait().status) }
        }
        return Transcript(
            status: status, output: try String(contentsOfFile: output, encoding: .utf8),
            error: try String(contentsOfFile: error, encoding: .utf8))
    }

    private static func executable() throws -> String {
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let path = URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent("merchantkeyctl").path
        try #require(FileManager.default.isExecutableFile(atPath: path), "merchantkeyctl is not built: \(path)")
        return path
    }

    /// Opens a pseudoterminal, see pts(4): `near` is the side of the test, `far` the side of the program.
    private static func openTerminal() throws -> (near: Int32, far: Int32) {
        let near = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        var locked: Int32 = 0
        var number: UInt32 = 0
        // TIOCSPTLCK and TIOCGPTN, whose macros Swift can't read.
        guard near >= 0, ioctl(near, 0x4004_5431, &locked) == 0, ioctl(near, 0x8004_5430, &number) == 0 else {
            throw POSIXError(.ENODEV)
        }
        return (near, open("/dev/pts/\(number)", O_RDWR | O_NOCTTY))
    }
}
