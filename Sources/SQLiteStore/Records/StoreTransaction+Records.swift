import FoundationEssentials
import GRDB
import MerchantCore
import Vocabulary

// MARK: - Audit

extension StoreTransaction {
    /// A sequence is given once, even where the last records were cut off behind our back: the gap tells.
    func append(_ entry: AuditEntry) throws {
        let last = try first("SELECT hash FROM audit WHERE sequence = (SELECT max(sequence) FROM audit)", []) {
            try $0.bytes("hash")
        }
        let record = AuditRecord(entry, sequence: try auditRecordsGiven() + 1, after: last ?? AuditRecord.genesis)
        try execute(AuditRow.insertion, AuditRow.values(record))
        note(AuditHead(sequence: record.sequence, hash: record.hash))
    }
}

// MARK: - Repeated requests

extension StoreTransaction {
    /// How long a repeated request is known as one.
    private static let memory = Duration.seconds(24 * 60 * 60)
    /// How many old keys one new key takes with it at most.
    private static let sweep = 64

    func idempotentOutcome(_ key: IdempotencyKey) throws -> IdempotentOutcome? {
        try first(
            """
            SELECT request_digest, resource FROM idempotency_keys
            WHERE caller_uid = ? AND operation = ? AND value = ?
            """, [key.callerUID, key.operation, key.value]
        ) { IdempotentOutcome(requestDigest: try $0.bytes("request_digest"), resource: try $0.text("resource")) }
    }

    /// Forgets some keys that are older than a day with it.
    func remember(_ key: IdempotencyKey, requestDigest: [UInt8], resource: String, at time: ClockReading) throws {
        try execute(
            """
            DELETE FROM idempotency_keys WHERE id IN (
                SELECT id FROM idempotency_keys WHERE created_at < ? ORDER BY created_at LIMIT \(Self.sweep)
            )
            """, [time.earliest.adding(.zero - Self.memory).millisecondsSince1970])
        guard try idempotentOutcome(key) == nil else {
            throw MerchantError(
                .idempotencyKeyReused, "the Idempotency-Key was used before, expected a new one for a new request")
        }
        try execute(
            """
            INSERT INTO idempotency_keys (caller_uid, operation, value, request_digest, resource, created_at)
            VALUES (?, ?, ?, ?, ?, ?)
            """,
            [
                key.callerUID, key.operation, key.value, Data(requestDigest), resource,
                time.latest.millisecondsSince1970,
            ])
    }
}

// MARK: - Facts

extension StoreTransaction {
    func setDaemonFact(_ name: String, _ value: String) throws {
        try execute(
            """
            INSERT INTO daemon_facts (name, value) VALUES (?, ?)
            ON CONFLICT (name) DO UPDATE SET value = excluded.value
            """, [name, value])
    }
}
