import Crypto
package import MerchantCore
import Vocabulary

/// Who requested an operation: the caller, the id of the caller's request, and the request's Idempotency-Key if it has
/// one.
package struct Request: Sendable {
    package let caller: Caller
    package let requestId: String
    package let idempotency: Idempotency?

    package init(caller: Caller, requestId: String, idempotency: Idempotency? = nil) {
        self.caller = caller
        self.requestId = requestId
        self.idempotency = idempotency
    }

    /// The `Idempotency-Key` of a request, and the SHA-256 of the request's operation and body.
    package struct Idempotency: Sendable {
        package let key: IdempotencyKey
        package let requestDigest: [UInt8]

        package init(key: IdempotencyKey, requestDigest: [UInt8]) {
            self.key = key
            self.requestDigest = requestDigest
        }

        /// - Parameters:
        ///   - fieldValues: the values of all `Idempotency-Key` header fields of the request.
        ///   - operation: the request's method and path. The path must be in its canonical spelling, so that a repeat
        ///     with another spelling of the path is recognized as a repeat.
        /// - Returns: nil if the request has no `Idempotency-Key`.
        /// - Throws: `malformed` for more than one field, or a value that is not 1 to 255 printable ASCII characters.
        package init?(
            fieldValues: [String], caller: Caller, operation: String, body: [UInt8]
        ) throws(MerchantError) {
            guard let value = fieldValues.first else { return nil }
            guard fieldValues.count == 1, (1...255).contains(value.utf8.count),
                value.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
            else {
                throw MerchantError(
                    .malformed,
                    fieldValues.count == 1
                        ? "the Idempotency-Key of \(value.utf8.count.counted("byte")) is not valid: send 1 to 255 printable ASCII characters"
                        : "the request has \(fieldValues.count) Idempotency-Key headers: send one"
                )
            }
            var hasher = SHA256()
            hasher.update(data: Array("\(operation)\n".utf8))
            hasher.update(data: body)
            self.init(
                key: IdempotencyKey(caller: caller.name, operation: operation, value: value),
                requestDigest: Array(hasher.finalize()))
        }
    }

    /// An audit entry about this request.
    func auditEntry(
        _ action: AuditAction, at now: Timestamp, merchant: MerchantIdentifier? = nil, key: PublicKeyHash? = nil,
        before: String? = nil, after: String? = nil, reason: String? = nil
    ) -> AuditEntry {
        AuditEntry(
            action, by: caller, at: now, merchant: merchant, key: key, before: before, after: after, reason: reason,
            requestId: requestId)
    }
}

extension Request.Idempotency? {
    /// Looks up an earlier request with the same Idempotency-Key, operation and body.
    ///
    /// - Returns: the name of the resource that the earlier request created; nil if there was no such request.
    /// - Throws: `idempotencyKeyReused` if an earlier request with this key had another body.
    func earlierResource(in transaction: any ChangeRecording) throws -> String? {
        guard let self, let outcome = try transaction.idempotentOutcome(self.key) else { return nil }
        guard outcome.requestDigest == self.requestDigest else {
            throw MerchantError(
                .idempotencyKeyReused,
                "an earlier request with this Idempotency-Key had other content: send a new Idempotency-Key with each new request; to repeat a request, send it unchanged"
            )
        }
        return outcome.resource
    }

    /// Stores the name of the resource that this request created, so that a repeat gets the same result. Does nothing
    /// if the request has no Idempotency-Key.
    ///
    /// - Parameter time: the time from which the record's expiry counts.
    func remember(_ resource: String, at time: ClockReading, in transaction: any ChangeRecording) throws {
        guard let self else { return }
        try transaction.remember(self.key, requestDigest: self.requestDigest, resource: resource, at: time)
    }
}
