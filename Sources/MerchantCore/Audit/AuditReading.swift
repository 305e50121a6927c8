package import Vocabulary

/// The port for the audit: what a transaction may read of it.
package protocol AuditReading {
    /// Newest first, starting before `cursor`; or oldest first, starting after it.
    func auditRecords(
        _ filter: AuditFilter, from cursor: Int?, oldestFirst: Bool, limit: Int
    ) throws -> [AuditRecord]
    /// The chain as it is stored, starting at `sequence`, including records that are altered or unreadable.
    func auditSegment(from sequence: Int, limit: Int) throws -> AuditSegment
    /// The last record; nil if there is none.
    func auditHead() throws -> AuditHead?
}

/// The port for recording an operation: its audit records, its events, and the outcome for its Idempotency-Key. They
/// commit in the transaction of the change itself.
package protocol ChangeRecording {
    func append(_ entry: AuditEntry) throws
    /// Stores an event together with its deliveries to webhooks.
    func append(_ event: Event) throws
    /// The outcome of an earlier request of the same caller with the same key; nil for a new one.
    func idempotentOutcome(_ key: IdempotencyKey) throws -> IdempotentOutcome?
    /// Stores the outcome of a request. Removes some keys that have expired at ``ClockReading/earliest``.
    func remember(_ key: IdempotencyKey, requestDigest: [UInt8], resource: String, at time: ClockReading) throws
}

extension AuditReading {
    /// Newest first, starting before `cursor`.
    package func auditRecords(
        merchant: MerchantIdentifier?, key: PublicKeyHash?, before cursor: Int?, limit: Int
    ) throws -> [AuditRecord] {
        try auditRecords(
            AuditFilter(merchant: merchant, key: key), from: cursor, oldestFirst: false, limit: limit)
    }
}
