package import Vocabulary

/// Reads the audit in a transaction of the store.
package protocol AuditReading {
    /// One page of the records that match the filter, newest first; if `oldestFirst` is true, oldest first.
    ///
    /// - Parameter cursor: the sequence of the last record of the previous page; nil for the first page.
    func auditRecords(
        _ filter: AuditFilter, from cursor: Int?, oldestFirst: Bool, limit: Int
    ) throws -> [AuditRecord]
    /// The records as they are stored, starting with the record `sequence`, including records that are altered or
    /// unreadable.
    func auditSegment(from sequence: Int, limit: Int) throws -> AuditSegment
    /// The last record; nil if there is none.
    func auditHead() throws -> AuditHead?
}

/// Stores the records about an operation: its audit records, its events, and the outcome of a request with an
/// Idempotency-Key. All of these are committed in the same transaction as the operation's changes.
package protocol ChangeRecording {
    func append(_ entry: AuditEntry) throws
    /// Stores an event together with its deliveries to webhooks.
    func append(_ event: Event) throws
    /// The outcome of the caller's earlier request with the same key; nil if none is stored.
    func idempotentOutcome(_ key: IdempotencyKey) throws -> IdempotentOutcome?
    /// Stores the outcome of a request with an Idempotency-Key. Also removes expired outcomes, but only some of them,
    /// so that the transaction stays short.
    ///
    /// - Parameters:
    ///   - resource: the name of what the request created.
    ///   - time: the machine's clock and the daemon's confirmed time. Both must have passed an outcome's expiry, so
    ///     that a wrong clock does not remove the outcome too early.
    func remember(_ key: IdempotencyKey, requestDigest: [UInt8], resource: String, at time: ClockReading) throws
}

extension AuditReading {
    /// The records before the sequence `cursor`, newest first. If `cursor` is nil, starts with the last record.
    package func auditRecords(
        merchant: MerchantIdentifier?, key: PublicKeyHash?, before cursor: Int?, limit: Int
    ) throws -> [AuditRecord] {
        try auditRecords(
            AuditFilter(merchant: merchant, key: key), from: cursor, oldestFirst: false, limit: limit)
    }
}
