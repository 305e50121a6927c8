package import Vocabulary

/// What can be asked of the store. One value sees one moment of the database.
package protocol MerchantReading: RegistrationReading, EventReading, RollReading,
    StatusReading
{
    func merchant(_ identifier: MerchantIdentifier) throws -> Merchant?
    /// Merchants that were not removed, by identifier, those after `cursor`.
    func merchants(after cursor: MerchantIdentifier?, limit: Int) throws -> [Merchant]
    func keyPair(_ hash: PublicKeyHash) throws -> KeyPair?
    /// Every key pair of the merchant, oldest first.
    func keyPairs(of merchant: MerchantIdentifier) throws -> [KeyPair]
    /// Key pairs whose publicKeyHash begins so, in any of its spellings; at most `limit`.
    func keyPairs(prefix text: String, limit: Int) throws -> [KeyPair]
    /// Key pairs in one state, in the order they were made, those after the key pair `cursor`.
    func keyPairs(in state: KeyState, after cursor: PublicKeyHash?, limit: Int) throws -> [KeyPair]
    func certificates(of hash: PublicKeyHash) throws -> [StoredCertificate]
    /// PKCS#10 in DER.
    func certificateSigningRequest(of hash: PublicKeyHash) throws -> [UInt8]?
    func sealedPrivateKey(of hash: PublicKeyHash) throws -> SealedPrivateKey?
    /// Revoked key pairs whose time of destruction has come.
    func keyPairsToDestroy(at moment: Timestamp, limit: Int) throws -> [PublicKeyHash]
    /// Newest first, those before `cursor`; or oldest first, those after it.
    func auditRecords(
        _ filter: AuditFilter, from cursor: Int?, oldestFirst: Bool, limit: Int
    ) throws -> [AuditRecord]
    /// The chain as it is stored from `sequence` on, whatever was done to it.
    func auditSegment(from sequence: Int, limit: Int) throws -> AuditSegment
    /// The last record; nil where there is none.
    func auditHead() throws -> AuditHead?
    func counts(at moment: Timestamp) throws -> StoreCounts
    /// Merchants with fewer active payment processing key pairs than their target, by identifier.
    func merchantsBelowTarget(after cursor: MerchantIdentifier?, limit: Int) throws -> [MerchantBelowTarget]
    /// Active key pairs whose answering certificate ends at or before `moment`, soonest first.
    func keyPairsExpiring(before moment: Timestamp, limit: Int) throws -> [ExpiringKeyPair]
    /// Every key pair there is, by publicKeyHash, those after `cursor`.
    func keyPairs(after cursor: PublicKeyHash?, limit: Int) throws -> [KeyPair]
    func backupCoverage() throws -> BackupCoverage
    /// Whether a verified backup holds the merchant's newest key pair; nil where it has none.
    func isNewestKeyPairBackedUp(of merchant: MerchantIdentifier) throws -> Bool?
    /// A fact the daemon keeps about itself.
    func daemonFact(_ name: String) throws -> String?
}

extension MerchantReading {
    /// Newest first, those before `cursor`.
    package func auditRecords(
        merchant: MerchantIdentifier?, key: PublicKeyHash?, before cursor: Int?, limit: Int
    ) throws -> [AuditRecord] {
        try auditRecords(
            AuditFilter(merchant: merchant, key: key), from: cursor, oldestFirst: false, limit: limit)
    }
}

/// What can be changed. Everything done through one value commits together or not at all.
package protocol MerchantTransaction: MerchantReading, RegistrationWriting, EventWriting, RollChanging {
    func insert(_ merchant: Merchant) throws
    func update(_ merchant: Merchant) throws
    func insert(_ keyPair: KeyPair, _ new: NewKeyPair) throws
    /// Writes state, times, reason and `exportedAt` of a stored key pair.
    func update(_ keyPair: KeyPair) throws
    /// - Returns: false where the same certificate was stored before; nothing is changed then.
    func insert(_ certificate: StoredCertificate, of hash: PublicKeyHash) throws -> Bool
    /// Removes the sealed bytes; the state is to become `destroyed` in the same transaction.
    func removeSealedPrivateKey(of hash: PublicKeyHash) throws
    func append(_ entry: AuditEntry) throws
    /// What an earlier request of the same caller with the same key led to; nil for a new one.
    func idempotentOutcome(_ key: IdempotencyKey) throws -> IdempotentOutcome?
    /// Remembers what a request led to. Keys that have expired by the earliest time may be removed.
    func remember(_ key: IdempotencyKey, requestDigest: [UInt8], resource: String, at time: ClockReading) throws
    func setDaemonFact(_ name: String, _ value: String) throws
    /// Remembers a backup; one that is known already is only ever changed to verified.
    func record(_ manifest: BackupManifest, at path: String, verifiedAt: Timestamp?) throws
}

/// The store. Writes of many callers are grouped into few commits; each is atomic on its own.
package protocol MerchantRepository: Sendable {
    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any MerchantReading) throws -> Result
    ) async throws -> Result
    /// The same on the calling thread, for paths that own one.
    func readNow<Result>(_ body: (any MerchantReading) throws -> Result) throws -> Result
    /// Returns once the transaction is on stable storage and every ``KeyChangeObserver`` was told.
    func write<Result: Sendable>(
        _ body: @escaping @Sendable (any MerchantTransaction) throws -> Result
    ) async throws -> Result
    /// Overwrites what the write-ahead log still holds of removed rows.
    func eraseRemovedBytes() async throws
}

/// Told, after a commit and before its caller is answered, which key pairs are no longer as they were.
package protocol KeyChangeObserver: Sendable {
    func keysChanged(_ hashes: [PublicKeyHash])
}

/// Told, after a commit and before its caller is answered, where the audit ends now.
package protocol AuditObserver: Sendable {
    /// - Parameter generation: of the write-ahead log that the end lies in; empty where it is unknown.
    func auditGrew(to head: AuditHead, inLog generation: String)
}

/// The header `Idempotency-Key` of one caller for one kind of request.
package struct IdempotencyKey: Hashable, Sendable {
    package let callerUID: UInt32
    /// Method and path.
    package let operation: String
    /// 1 to 255 printable ASCII characters.
    package let value: String

    package init(callerUID: UInt32, operation: String, value: String) {
        self.callerUID = callerUID
        self.operation = operation
        self.value = value
    }
}

/// What a remembered request led to.
package struct IdempotentOutcome: Hashable, Sendable {
    package let requestDigest: [UInt8]
    /// The name of what was made: a merchantIdentifier or a publicKeyHash.
    package let resource: String

    package init(requestDigest: [UInt8], resource: String) {
        self.requestDigest = requestDigest
        self.resource = resource
    }
}

/// Numbers for `status`.
package struct StoreCounts: Hashable, Sendable {
    package var merchants = 0
    package var keyPairs: [KeyState: Int] = [:]
    package var certificates = 0
    /// Active key pairs whose every certificate has ended.
    package var activeWithExpiredCertificate = 0
    package var merchantsBelowTarget = 0
    package var auditRecords = 0
    package var auditHead: AuditHead?
    /// Merchants that have a domain registered, as the platform wants it.
    package var registrations = 0
    /// Those of which Apple's record is known to differ.
    package var registrationsDrifting = 0
    /// Calls to Apple whose outcome nobody knows yet.
    package var registrationCallsOpen = 0

    package init() {}
}
