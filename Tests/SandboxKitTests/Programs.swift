import Foundation
import MerchantTestSupport

/// Runs the programs with which the tests verify the sandbox's output: openssl and python3.
enum Programs {
    /// Whether `python3` and its package `cryptography` are installed.
    static let hasPythonCryptography = ChildProcess.succeeds("python3", "-c", "import cryptography")
    static let hasOpenSSL = ChildProcess.succeeds("openssl", "version")

    static func run(_ command: [String], input: String = "") throws -> ChildProcess.Outcome {
        try ChildProcess.run(command, input: input.utf8)
    }

    static func openssl(_ arguments: String...) throws -> ChildProcess.Outcome { try run(["openssl"] + arguments) }
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
