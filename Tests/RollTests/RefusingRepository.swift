import MerchantCore
import Vocabulary

/// A store that refuses each transaction after which the given key pair has a stored use.
final class RefusingRepository: MerchantRepository {
    private let store: any MerchantRepository
    private let refused: PublicKeyHash

    init(_ store: any MerchantRepository, refused: PublicKeyHash) {
        self.store = store
        self.refused = refused
    }

    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any RepositoryReading) throws -> Result
    ) async throws -> Result {
        try await store.read(body)
    }

    func readNow<Result>(_ body: (any RepositoryReading) throws -> Result) throws -> Result { try store.readNow(body) }

    func write<Result: Sendable>(
        _ body: @escaping @Sendable (any RepositoryWriting) throws -> Result
    ) async throws -> Result {
        try await store.write { [refused] transaction in
            let result = try body(transaction)
            guard try transaction.keyUse(of: refused) == nil else {
                throw MerchantError(.internalError, "the change violates a constraint of the database")
            }
            return result
        }
    }

    func eraseCopiesOfDestroyedSecrets() async throws { try await store.eraseCopiesOfDestroyedSecrets() }
}
