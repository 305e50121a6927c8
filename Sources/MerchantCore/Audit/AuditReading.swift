package import Vocabulary

/// Reads the audit in a transaction of the store.
package protocol AuditReading {
    /// The newest records first, starting before the sequence `cursor`. With `oldestFirst`, the oldest records first,
    /// starting after that sequence. If `cursor` is nil, starts with the very newest or oldest record.
    func auditRecords(
        _ filter: AuditFilter, from cursor: Int?, oldestFirst: Bool, limit: Int
    ) throws -> [AuditRecord]
    /// The chain as it is stored, starting at `sequence`, including records that are altered or unreadable.
    func auditSegment(from sequence: Int, limit: Int) throws -> AuditSegment
    /// The last record; nil if there is none.
    func auditHead() throws -> AuditHead?
}

/// Records an operation: its audit records, its events, and the outcome for its Idempotency-Key. All of these are
/// committed in the same transaction as the operation's changes.
package protocol ChangeRecording {
    func append(_ entry: AuditEntry) throws
    /// Stores an event together with its deliveries to webhooks.
    func append(_ event: Event) throws
    /// The outcome of the caller's earlier request with the same key; nil if the key is new.
    func idempotentOutcome(_ key: IdempotencyKey) throws -> IdempotentOutcome?
    /// Stores the outcome of a request. Also removes some outcomes that have expired at ``ClockReading/earliest``.
    func remember(_ key: IdempotencyKey, requestDigest: [UInt8], resource: String, at time: ClockReading) throws
}

extension AuditReading {
    /// The newest records first, starting before the sequence `cursor`; nil starts with the last record.
    package func auditRecords(
        merchant: MerchantIdentifier?, key: PublicKeyHash?, before cursor: Int?, limit: Int
    ) throws -> [AuditRecord] {
        try auditRecords(
            AuditFilter(merchant: merchant, key: key), from: cursor, oldestFirst: false, limit: limit)
    }
}
