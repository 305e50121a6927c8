import MerchantCore
import Vocabulary

extension StoreTransaction {
    /// An Idempotency-Key is kept for at least this time.
    private static let retention = Duration.seconds(24 * 60 * 60)
    /// How many expired keys are removed at most when a key is stored, so that the write stays short.
    private static let maximumRemoved = 64

    /// The outcome of the request that first used the key; nil if the key was not used.
    func idempotentOutcome(_ key: IdempotencyKey) throws -> IdempotentOutcome? {
        try firstRow(
            """
            SELECT request_digest, resource FROM idempotency_keys
            WHERE caller = $1 AND operation = $2 AND value = $3
            """, [key.caller, key.operation, key.value]
        ) { IdempotentOutcome(requestDigest: try $0.bytes("request_digest"), resource: try $0.text("resource")) }
    }

    /// Stores the key and the name of the resource that its request created. Also removes up to ``maximumRemoved``
    /// expired keys.
    ///
    /// `time` contains the machine's clock and the daemon's own count of time. The key is stored with the later of the
    /// two, and keys expire by the earlier one, so that a wrong clock does not remove a key too early.
    func remember(_ key: IdempotencyKey, requestDigest: [UInt8], resource: String, at time: ClockReading) throws {
        try execute(
            """
            DELETE FROM idempotency_keys WHERE id IN (
                SELECT id FROM idempotency_keys WHERE created_at < $1 ORDER BY created_at LIMIT \(Self.maximumRemoved)
            )
            """, [time.earliest.adding(.zero - Self.retention).millisecondsSince1970])
        guard try idempotentOutcome(key) == nil else {
            throw MerchantError(
                .idempotencyKeyReused,
                "the Idempotency-Key was already used for another request: use a new key for each new request")
        }
        try execute(
            """
            INSERT INTO idempotency_keys (caller, operation, value, request_digest, resource, created_at)
            VALUES ($1, $2, $3, $4, $5, $6)
            """,
            [
                key.caller, key.operation, key.value, requestDigest, resource,
                time.latest.millisecondsSince1970,
            ])
    }
}
