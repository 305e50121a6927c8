import Foundation
import Glibc
import Testing

/// The real `merchantkeyctl`, built beside the tests.
struct Program {
    struct Transcript: Equatable {
        let status: Int32
        let output: String
        let error: String
    }

    /// What standard input is.
    enum Input {
        case nothing
        case bytes(String)
        /// A terminal at which somebody types this.
        case terminal(String)
    }

    let directory: String

    /// A directory of the test's own; the caller removes it.
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

    /// Runs it with the directory as its state home, so that it finds no other daemon.
    func run(
        _ arguments: [String], input: Input = .nothing, environment: [String: String] = [:]
    ) async throws -> Transcript {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try Self.executable())
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: directory)
        process.environment = ["HOME": directory, "PATH": "/usr/bin:/bin"].merging(environment) { $1 }
        let output = Pipe()
        let error = Pipe()
        process.standardOutput = output
        process.standardError = error
        var terminal: Int32?
        switch input {
        case .nothing: process.standardInput = FileHandle.nullDevice
        case .bytes(let text):
            let pipe = Pipe()
            process.standardInput = pipe
            try pipe.fileHandleForWriting.write(contentsOf: Data(text.utf8))
            try pipe.fileHandleForWriting.close()
        case .terminal(let typed):
            let (near, far) = try Self.openTerminal()
            terminal = near
            process.standardInput = FileHandle(fileDescriptor: far, closeOnDealloc: true)
            _ = Array(typed.utf8).withUnsafeBytes { Glibc.write(near, $0.baseAddress, $0.count) }
        }
        defer { if let terminal { close(terminal) } }
        let status: Int32 = try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
        // What the program writes here is smaller than a pipe's buffer, so that it never waits for us.
        return Transcript(
            status: status, output: String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self),
            error: String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self))
    }

    private static func executable() throws -> String {
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let path = URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent("merchantkeyctl").path
        try #require(FileManager.default.isExecutableFile(atPath: path), "merchantkeyctl is not built: \(path)")
        return path
    }

    /// A pseudoterminal of Linux, pts(4).
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
