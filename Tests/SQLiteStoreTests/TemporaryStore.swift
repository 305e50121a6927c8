import Foundation
import GRDB
import MerchantCore
import SQLiteStore
import Synchronization
import Vocabulary

/// A store in a directory of its own, which is removed with the value.
final class TemporaryStore: Sendable {
    let directory: URL
    let store: SQLiteStore

    var path: String { directory.appending(path: "merchants.db").path }

    /// - Parameter observers: gets the path of the database.
    init(
        trace: (@Sendable (String) -> Void)? = nil, observers: (String) -> StoreObservers = { _ in StoreObservers() }
    ) throws {
        directory = try makeDirectory()
        let path = directory.appending(path: "merchants.db").path
        store = try SQLiteStore.open(path: path, observers: observers(path), trace: trace)
        try store.insert(Sample.dataKey)
    }

    deinit {
        try? store.close()
        try? FileManager.default.removeItem(at: directory)
    }

    /// Opens another connection to the database, as `sqlite3` does.
    func withSeparateConnection<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try SQLiteStoreTests.withSeparateConnection(to: path, body)
    }

    /// Stores one key pair, its merchant unless that is stored, and a certificate unless `certificateEnds` is nil.
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

/// Opens a connection of its own to a database file.
func withSeparateConnection<Value>(to path: String, _ body: (Database) throws -> Value) throws -> Value {
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

/// Records the calls of `keysChanged`.
final class RecordingObserver: KeyChangeObserver {
    private let notifications = Mutex<[[PublicKeyHash]]>([])
    var calls: [[PublicKeyHash]] { notifications.withLock { $0 } }
    func keysChanged(_ hashes: [PublicKeyHash]) { notifications.withLock { $0.append(hashes) } }
    func allKeysChanged() {}
}

/// The `MerchantError` that `body` throws; nil for another error or none.
func refusal(_ body: () async throws -> Void) async -> MerchantError? {
    do {
        try await body()
        return nil
    } catch { return error as? MerchantError }
}
