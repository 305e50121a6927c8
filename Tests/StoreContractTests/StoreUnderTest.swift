import Foundation
import MerchantCore
import MerchantTestSupport
import PostgresStore
import SQLiteStore
import Testing
import Vocabulary

/// The stores on which all contracts except ``NonceLedgerContract`` run. Add a case for another store.
enum StoreUnderTest: String, CaseIterable, Sendable {
    case memory, sqlite, postgresql

    /// An empty store. In SQLite and PostgreSQL it has one data key.
    func open() throws -> OpenStore {
        switch self {
        case .memory: return OpenStore(MemoryRepository()) {}
        case .sqlite:
            let base = FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
            let directory = URL(filePath: base).appending(path: "contract-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
            let store = try SQLiteStore.open(path: directory.appending(path: "store.sqlite").path)
            try store.insert(SealedDataKey(identifier: 1, bytes: [1], masterKeyCheck: [1], createdAt: Sample.time(0)))
            return OpenStore(store) {
                try? store.close()
                try? FileManager.default.removeItem(at: directory)
            }
        case .postgresql:
            let database = try PostgresUnderTest.create()
            let store = PostgresStore(try database.open(), clock: SystemClock())
            return OpenStore(store) {
                store.close()
                database.remove()
            }
        }
    }
}

/// A store that is closed when this value is released.
final class OpenStore: Sendable {
    let repository: any MerchantRepository
    private let close: @Sendable () -> Void

    init(_ repository: any MerchantRepository, close: @escaping @Sendable () -> Void) {
        self.repository = repository
        self.close = close
    }

    deinit { close() }

    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any RepositoryReading) throws -> Result
    ) async throws -> Result { try await repository.read(body) }

    @discardableResult
    func write<Result: Sendable>(
        _ body: @escaping @Sendable (any RepositoryWriting) throws -> Result
    ) async throws -> Result { try await repository.write(body) }

    /// The code of the error that the write fails with; nil if it succeeds.
    func refusal(_ body: @escaping @Sendable (any RepositoryWriting) throws -> Void) async throws -> MerchantError.Code?
    {
        do {
            try await repository.write(body)
            return nil
        } catch let error as MerchantError { return error.code }
    }

    /// Stores a merchant with key pairs in these states, oldest first, each with a certificate unless it is pending.
    func storeMerchant(_ merchant: Int = 0, _ states: KeyState...) async throws {
        try await write { transaction in
            try transaction.insert(Sample.merchant(merchant))
            for (index, state) in states.enumerated() {
                let keyPair = Sample.keyPair(merchant * 10 + index, of: merchant, state)
                try transaction.insert(keyPair, Sample.new(keyPair))
                guard state != .pending else { continue }
                _ = try transaction.insert(Sample.certificate(merchant * 10 + index), of: keyPair.publicKeyHash)
            }
        }
    }
}
