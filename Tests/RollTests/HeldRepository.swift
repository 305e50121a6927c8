import MerchantCore
import Vocabulary

/// A store whose asynchronous reads are blocked until ``release()``.
final class HeldRepository: MerchantRepository {
    private let store: any MerchantRepository
    private let reads = AsyncStream<Void>.makeStream()
    private let releases = AsyncStream<Void>.makeStream()

    init(_ store: any MerchantRepository) { self.store = store }

    /// Returns once the first read has begun.
    func firstRead() async { for await _ in reads.stream { return } }

    func release() { releases.continuation.finish() }

    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any RepositoryReading) throws -> Result
    ) async throws -> Result {
        reads.continuation.yield()
        for await _ in releases.stream {}
        return try await store.read(body)
    }

    func readNow<Result>(_ body: (any RepositoryReading) throws -> Result) throws -> Result { try store.readNow(body) }

    func write<Result: Sendable>(
        _ body: @escaping @Sendable (any RepositoryWriting) throws -> Result
    ) async throws -> Result {
        try await store.write(body)
    }

    func eraseCopiesOfDestroyedSecrets() async throws { try await store.eraseCopiesOfDestroyedSecrets() }
}
