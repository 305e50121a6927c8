package import Vocabulary

/// Everything that can be read from the store. All reads through one instance see one consistent state.
package protocol RepositoryReading: MerchantReading, KeyPairReading, SealedKeyReading, KeyUseReading, RollReading,
    ExpiryScheduleReading, RegistrationReading, EventReading, AuditReading, DaemonStateReading, StatusReading,
    SearchReading, AccessReading, InvitationReading, PortalSessionReading, MerchantTokenReading,
    TokenNotificationReading
{}

/// Everything that can be written to the store. All writes through one instance commit together or not at all.
package protocol RepositoryWriting: RepositoryReading, MerchantWriting, KeyPairWriting, SealedKeyWriting, KeyUseWriting,
    RollWriting, ExpiryScheduleWriting, RegistrationWriting, EventWriting, ChangeRecording, DaemonStateWriting,
    AccessWriting, InvitationWriting, PortalSessionWriting, MerchantTokenWriting, TokenNotificationWriting
{}

/// The store of merchants, keys, rolls, registrations, events, the audit and the access to the portal. A use case does
/// not get the store itself, but a ``Transactions`` with only the protocols that it needs.
///
/// An implementation may group the writes of several callers into one commit; each write is atomic on its own.
package protocol MerchantRepository: Sendable {
    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any RepositoryReading) throws -> Result
    ) async throws -> Result
    /// Reads on the calling thread. Blocks that thread.
    func readNow<Result>(_ body: (any RepositoryReading) throws -> Result) throws -> Result
    /// Returns once the transaction is on stable storage and every ``KeyChangeObserver`` was notified.
    func write<Result: Sendable>(
        _ body: @escaping @Sendable (any RepositoryWriting) throws -> Result
    ) async throws -> Result
    /// Removes the copies of erased private keys and account numbers that the database still has in its files and in
    /// the daemon's memory, as far as the kind of database permits.
    func eraseCopiesOfDestroyedSecrets() async throws
}

/// Is notified of the key pairs that a commit has changed, before the commit's caller gets its result. New pending key
/// pairs are not reported, because they are not used yet.
package protocol KeyChangeObserver: Sendable {
    func keysChanged(_ hashes: [PublicKeyHash])

    /// Called if any key pair may have changed, and the store does not know which.
    func allKeysChanged()
}

/// Is notified of the new audit head after a commit, before the commit's caller gets its result.
package protocol AuditObserver: Sendable {
    /// - Parameter generation: identifies the content of the write-ahead log that contains the head. SQLite changes
    ///   this value when it starts to overwrite the log from the beginning. Empty if unknown.
    func auditGrew(to head: AuditHead, inLog generation: String)
}
