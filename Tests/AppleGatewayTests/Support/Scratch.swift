import Foundation
import MerchantTestSupport
import Testing

/// A directory that is removed with its owner.
final class Scratch: Sendable {
    let directory: String

    init() throws {
        directory = "/tmp/gateway-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    func path(_ name: String) -> String { "\(directory)/\(name)" }

    @discardableResult
    func write(_ bytes: some Sequence<UInt8>, _ name: String) throws -> String {
        try Data(bytes).write(to: URL(filePath: path(name)), options: .atomic)
        return path(name)
    }

    @discardableResult
    func write(_ text: String, _ name: String) throws -> String { try write(Array(text.utf8), name) }

    func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path(name)))) }

    func openssl(_ arguments: String...) throws {
        try ChildProcess.output(of: ["openssl"] + arguments)
    }
}

/// A value behind a lock.
final class Guarded<Value>: @unchecked Sendable {
    // Proof for @unchecked Sendable: the value is used only while the lock is held.
    private let lock = NSLock()
    private var stored: Value

    init(_ value: Value) { stored = value }

    var value: Value {
        get { lock.withLock { stored } }
        set { lock.withLock { stored = newValue } }
    }

    func update<Result>(_ body: (inout Value) -> Result) -> Result { lock.withLock { body(&stored) } }
}
