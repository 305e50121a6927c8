import Foundation
import MerchantTestSupport

/// Runs the programs with which the tests verify the sandbox's output: openssl and python3.
enum Programs {
    struct Outcome {
        let status: Int32
        let output: String
        let error: String
    }

    /// Whether `python3` and its package `cryptography` are installed.
    static let hasPythonCryptography = succeeds("python3", "-c", "import cryptography")
    static let hasOpenSSL = succeeds("openssl", "version")

    static func run(_ command: [String], input: String = "") throws -> Outcome {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        // Files instead of pipes, so that the program cannot block on a full pipe.
        let scratch = try Scratch()
        try Data(input.utf8).write(to: URL(fileURLWithPath: scratch.path("in")))
        for name in ["out", "err"] { try Data().write(to: URL(fileURLWithPath: scratch.path(name))) }
        process.standardInput = FileHandle(forReadingAtPath: scratch.path("in"))
        process.standardOutput = FileHandle(forWritingAtPath: scratch.path("out"))
        process.standardError = FileHandle(forWritingAtPath: scratch.path("err"))
        try process.run()
        process.waitForExit()
        return Outcome(
            status: process.terminationStatus, output: try scratch.text("out"), error: try scratch.text("err"))
    }

    static func openssl(_ arguments: String...) throws -> Outcome { try run(["openssl"] + arguments) }

    private static func succeeds(_ command: String...) -> Bool { (try? run(command).status) == 0 }
}

/// A temporary directory that is deleted at the end of its test.
final class Scratch {
    private let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("sandbox-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    var directory: String { url.path }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }

    @discardableResult
    func write(_ bytes: [UInt8], _ name: String) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: path(name)))
        return path(name)
    }

    @discardableResult
    func write(_ text: String, _ name: String) throws -> String { try write(Array(text.utf8), name) }

    func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path(name)))) }

    func text(_ name: String) throws -> String { String(decoding: try bytes(name), as: UTF8.self) }
}
