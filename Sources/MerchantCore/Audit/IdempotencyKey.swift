/// The value of the header `Idempotency-Key`, with the caller and the route of the request.
package struct IdempotencyKey: Hashable, Sendable {
    /// A key is kept for at least this time.
    package static let retention = Duration.seconds(24 * 60 * 60)
    /// How many expired keys are removed at most when a key is stored, so that the write stays short.
    package static let maximumRemoved = 64

    /// The caller's name: ``Caller/name``.
    package let caller: String
    /// Method and path.
    package let operation: String
    /// 1 to 255 printable ASCII characters.
    package let value: String

    package init(caller: String, operation: String, value: String) {
        self.caller = caller
        self.operation = operation
        self.value = value
    }
}

/// The stored outcome of a request with an Idempotency-Key.
package struct IdempotentOutcome: Hashable, Sendable {
    /// SHA-256 of the request's method, path and body. A request with the same key and another digest is refused.
    package let requestDigest: [UInt8]
    /// The name of what the request created, such as a merchantIdentifier or a publicKeyHash.
    package let resource: String

    package init(requestDigest: [UInt8], resource: String) {
        self.requestDigest = requestDigest
        self.resource = resource
    }
}

extension MerchantError {
    /// For a key that the caller sends with two different requests.
    package static let idempotencyKeyReused = MerchantError(
        .idempotencyKeyReused,
        "the Idempotency-Key was already used for another request: use a new key for each new request")
}
