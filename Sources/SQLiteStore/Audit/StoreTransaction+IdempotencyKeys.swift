import FoundationEssentials
import GRDB
import MerchantCore
import Vocabulary

extension StoreTransaction {
    /// The shortest time that an Idempotency-Key is kept.
    private static let retention = Duration.seconds(24 * 60 * 60)
    /// The most expired keys that are removed when a key is stored, so that the write stays short.
    private static let mostRemoved = 64

    func idempotentOutcome(_ key: IdempotencyKey) throws -> IdempotentOutcome? {
        try first(
            """
            SELECT request_digest, resource FROM idempotency_keys
            WHERE caller_uid = ? AND operation = ? AND value = ?
            """, [key.callerUID, key.operation, key.value]
        ) { IdempotentOutcome(requestDigest: try $0.bytes("request_digest"), resource: try $0.text("resource")) }
    }

    /// Stores the key and the resource that its request created. Also removes up to ``mostRemoved`` expired keys.
    ///
    /// A key expires by the earlier of the two times in `time`, and is stored with the later one, so that a wrong clock
    /// does not remove it too early.
    func remember(_ key: IdempotencyKey, requestDigest: [UInt8], resource: String, at time: ClockReading) throws {
        try execute(
            """
            DELETE FROM idempotency_keys WHERE id IN (
                SELECT id FROM idempotency_keys WHERE created_at < ? ORDER BY created_at LIMIT \(Self.mostRemoved)
            )
            """, [time.earliest.adding(.zero - Self.retention).millisecondsSince1970])
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
