package import Vocabulary

/// Reads the audit in a transaction of the store.
package protocol AuditReading {
    /// The newest records first, starting before `cursor`. With `oldestFirst`, the oldest records first, starting after
    /// `cursor`.
    func auditRecords(
        _ filter: AuditFilter, from cursor: Int?, oldestFirst: Bool, limit: Int
    ) throws -> [AuditRecord]
    /// The chain as it is stored, starting at `sequence`, including records that are altered or unreadable.
    func auditSegment(from sequence: Int, limit: Int) throws -> AuditSegment
    /// The last record; nil if there is none.
    func auditHead() throws -> AuditHead?
}

/// Records an operation: its audit records, its events, and the outcome for its Idempotency-Key. They are committed in
/// the same transaction as the operation's changes.
package protocol ChangeRecording {
    func append(_ entry: AuditEntry) throws
    /// Stores an event together with its deliveries to webhooks.
    func append(_ event: Event) throws
    /// The outcome of an earlier request of the same caller with the same key; nil for a new one.
    func idempotentOutcome(_ key: IdempotencyKey) throws -> IdempotentOutcome?
    /// Stores the outcome of a request. Also removes some keys that have expired by ``ClockReading/earliest``.
    func remember(_ key: IdempotencyKey, requestDigest: [UInt8], resource: String, at time: ClockReading) throws
}

extension AuditReading {
    /// The newest records first, starting before `cursor`.
    package func auditRecords(
        merchant: MerchantIdentifier?, key: PublicKeyHash?, before cursor: Int?, limit: Int
    ) throws -> [AuditRecord] {
        try auditRecords(
            AuditFilter(merchant: merchant, key: key), from: cursor, oldestFirst: false, limit: limit)
    }
}
