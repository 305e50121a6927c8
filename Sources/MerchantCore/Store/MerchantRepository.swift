package import Vocabulary

/// All ports for reading. One value reads one consistent state of the store.
package protocol RepositoryReading: MerchantReading, KeyPairReading, SealedKeyReading, KeyUseReading, RollReading,
    ExpiryScheduleReading, RegistrationReading, EventReading, AuditReading, DaemonStateReading, StatusReading
{}

/// All ports for writing. Everything that is written through one value commits together or not at all.
package protocol RepositoryWriting: RepositoryReading, MerchantWriting, KeyPairWriting, SealedKeyWriting, KeyUseWriting,
    RollWriting, ExpiryScheduleWriting, RegistrationWriting, EventWriting, ChangeRecording, DaemonStateWriting
{}

/// The store, as its implementations provide it. Use cases get a ``Transactions`` instead, which shows only some ports.
///
/// An implementation may group the writes of several callers into one commit; each write is atomic on its own.
package protocol MerchantRepository: Sendable {
    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any RepositoryReading) throws -> Result
    ) async throws -> Result
    /// Reads on the calling thread, and blocks it.
    func readNow<Result>(_ body: (any RepositoryReading) throws -> Result) throws -> Result
    /// Returns once the transaction is on stable storage and every ``KeyChangeObserver`` was notified.
    func write<Result: Sendable>(
        _ body: @escaping @Sendable (any RepositoryWriting) throws -> Result
    ) async throws -> Result
    /// Overwrites copies of removed rows in the write-ahead log.
    func eraseRemovedBytes() async throws
}

/// Receives the key pairs that a commit changed, before the commit's caller gets its result.
package protocol KeyChangeObserver: Sendable {
    func keysChanged(_ hashes: [PublicKeyHash])
}

/// Receives the new audit head after a commit, before the commit's caller gets its result.
package protocol AuditObserver: Sendable {
    /// - Parameter generation: the generation of the write-ahead log that contains the head; empty if it is unknown.
    func auditGrew(to head: AuditHead, inLog generation: String)
}
