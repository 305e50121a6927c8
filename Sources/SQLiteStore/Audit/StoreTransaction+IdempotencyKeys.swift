import MerchantCore
import StoreCore
import Vocabulary

extension StoreTransaction {
    /// The outcome of the request that first used the key; nil if none is stored.
    func idempotentOutcome(_ key: IdempotencyKey) throws -> IdempotentOutcome? {
        try firstRow(
            """
            SELECT \(IdempotencyKeyRow.outcomeColumns) FROM idempotency_keys
            WHERE caller = ? AND operation = ? AND value = ?
            """, [key.caller, key.operation, key.value], IdempotencyKeyRow.outcome)
    }

    /// Stores the key and the name of the resource that its request created. Also removes up to
    /// ``IdempotencyKey/maximumRemoved`` expired keys.
    ///
    /// `time` contains the time of the machine's clock and the daemon's own count of time (``ConfirmedTime``). The key
    /// is stored with the later of the two, and keys expire by the earlier one, so that a wrong clock does not remove a
    /// key too early.
    func remember(_ key: IdempotencyKey, requestDigest: [UInt8], resource: String, at time: ClockReading) throws {
        try execute(
            """
            DELETE FROM idempotency_keys WHERE id IN (
                SELECT id FROM idempotency_keys WHERE created_at < ? ORDER BY created_at LIMIT ?
            )
            """, [time.earliest.adding(.zero - IdempotencyKey.retention), IdempotencyKey.maximumRemoved])
        guard try idempotentOutcome(key) == nil else { throw MerchantError.idempotencyKeyReused }
        try execute(
            """
            INSERT INTO idempotency_keys (\(IdempotencyKeyRow.insertedColumns)) VALUES (?, ?, ?, ?, ?, ?)
            """,
            IdempotencyKeyRow.values(
                key, IdempotentOutcome(requestDigest: requestDigest, resource: resource), at: time.latest))
    }
}
