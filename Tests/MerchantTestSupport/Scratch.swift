import Foundation

/// A temporary directory for one test, which only its user can read. It is removed when this value is released.
///
/// Its path is short: a path of a Unix socket has at most 107 bytes.
package final class Scratch: Sendable {
    package let directory: String

    package init() throws {
        directory = "/tmp/mkd-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    package func path(_ name: String) -> String { "\(directory)/\(name)" }

    /// - Returns: the file's path.
    @discardableResult
    package func write(_ bytes: some Sequence<UInt8>, _ name: String) throws -> String {
        try Data(bytes).write(to: URL(filePath: path(name)), options: .atomic)
        return path(name)
    }

    /// - Returns: the file's path.
    @discardableResult
    package func write(_ text: String, _ name: String) throws -> String { try write(text.utf8, name) }

    package func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path(name)))) }

    package func text(_ name: String) throws -> String { String(decoding: try bytes(name), as: UTF8.self) }
}
