package import MerchantCore
package import Vocabulary

/// Converts an Idempotency-Key and the outcome of its request to a row of `idempotency_keys`, and a row to the outcome.
package enum IdempotencyKeyRow {
    package static let outcomeColumns = "request_digest, resource"

    /// Converts a row with ``outcomeColumns``.
    package static func outcome(_ row: some StoredRow) throws -> IdempotentOutcome {
        IdempotentOutcome(requestDigest: try row.bytes("request_digest"), resource: try row.text("resource"))
    }

    package static let insertedColumns = "caller, operation, value, request_digest, resource, created_at"

    /// The values of ``insertedColumns``.
    package static func values(_ key: IdempotencyKey, _ outcome: IdempotentOutcome, at time: Timestamp) -> Arguments {
        [key.caller, key.operation, key.value, outcome.requestDigest, outcome.resource, time]
    }
}
