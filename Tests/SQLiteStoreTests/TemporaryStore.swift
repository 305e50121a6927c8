import Foundation
import GRDB
import MerchantCore
import SQLiteStore
import Synchronization
import Vocabulary

/// A store in a directory of its own, which goes when the value goes.
final class TemporaryStore: Sendable {
    let directory: URL
    let store: SQLiteStore

    var path: String { directory.appending(path: "merchants.db").path }

    init(trace: (@Sendable (String) -> Void)? = nil) throws {
        directory = try makeDirectory()
        store = try SQLiteStore.open(path: directory.appending(path: "merchants.db").path, trace: trace)
        try store.insert(Sample.dataKey)
    }

    deinit {
        try? store.close()
        try? FileManager.default.removeItem(at: directory)
    }

    /// A connection beside the store's, as an attacker or an administrator with `sqlite3` has it.
    func aside<Value>(_ body: (Database) throws -> Value) throws -> Value { try beside(path, body) }

    /// Writes one merchant with one key pair.
    @discardableResult
    func onboard(
        _ merchant: MerchantIdentifier = Sample.merchant, _ state: KeyState = .pending, seed: Int = 1,
        certificateEnds: Timestamp? = nil
    ) async throws -> KeyPair {
        try await store.write { transaction throws in
            if try transaction.merchant(merchant) == nil { try transaction.insert(Sample.record(merchant)) }
            let keyPair = Sample.keyPair(seed, of: merchant, state)
            try transaction.insert(keyPair, Sample.new(keyPair, seed: seed))
            if let certificateEnds {
                _ = try transaction.insert(
                    Sample.certificate(seed, ends: certificateEnds), of: keyPair.publicKeyHash)
            }
            return keyPair
        }
    }
}

/// A connection of our own to a database file.
func beside<Value>(_ path: String, _ body: (Database) throws -> Value) throws -> Value {
    var configuration = Configuration()
    configuration.busyMode = .timeout(5)
    let connection = try DatabaseQueue(path: path, configuration: configuration)
    defer { try? connection.close() }
    return try connection.writeWithoutTransaction(body)
}

func makeDirectory() throws -> URL {
    let directory = FileManager.default.temporaryDirectory.appending(path: "merchant-store-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    return directory
}

func mode(of path: String) throws -> Int {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int ?? -1
}

/// Remembers what it was told, call by call.
final class Listener: KeyChangeObserver {
    private let told = Mutex<[[PublicKeyHash]]>([])
    var calls: [[PublicKeyHash]] { told.withLock { $0 } }
    func keysChanged(_ hashes: [PublicKeyHash]) { told.withLock { $0.append(hashes) } }
}

/// The error that `body` throws, if it is one of the domain's.
func refusal(_ body: () async throws -> Void) async -> MerchantError? {
    do {
        try await body()
        return nil
    } catch { return error as? MerchantError }
}
