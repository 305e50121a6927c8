/// The store, limited to the protocols that one use case needs: `Reader` for reads and `Writer` for writes.
///
/// Each call of ``write(_:)`` is one transaction. The declared type chooses the protocols, as in
/// `let records: Transactions<any EventReading, any EventWriting> = .init(store, reads: { $0 }, writes: { $0 })`.
package struct Transactions<Reader, Writer>: Sendable {
    private let store: any MerchantRepository
    private let reader: @Sendable (any RepositoryReading) -> Reader
    private let writer: @Sendable (any RepositoryWriting) -> Writer

    package init(
        _ store: any MerchantRepository, reads: @escaping @Sendable (any RepositoryReading) -> Reader,
        writes: @escaping @Sendable (any RepositoryWriting) -> Writer
    ) {
        self.store = store
        reader = reads
        writer = writes
    }

    package func read<Result: Sendable>(
        _ body: @escaping @Sendable (Reader) throws -> Result
    ) async throws -> Result {
        try await store.read { [reader] in try body(reader($0)) }
    }

    /// Reads on the calling thread. Blocks that thread.
    package func readNow<Result>(_ body: (Reader) throws -> Result) throws -> Result {
        try store.readNow { try body(reader($0)) }
    }

    /// Returns once the transaction is on stable storage and every ``KeyChangeObserver`` was notified.
    package func write<Result: Sendable>(
        _ body: @escaping @Sendable (Writer) throws -> Result
    ) async throws -> Result {
        try await store.write { [writer] in try body(writer($0)) }
    }
}
