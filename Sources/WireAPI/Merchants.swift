package import Vocabulary

extension Paths {
    package static let merchants = "/v1/merchants"

    package static func merchant(_ identifier: MerchantIdentifier) -> String { "\(merchants)/\(identifier)" }
}

/// A merchant, as `GET /v1/merchants/{merchantIdentifier}` returns it.
package struct MerchantDocument: Codable, Hashable, Sendable {
    package let merchantIdentifier: MerchantIdentifier
    package let merchantIdentifierHash: MerchantIdentifierHash
    package var name: String?
    /// How many active payment processing key pairs the merchant should have. A key pair is active if decryptors may
    /// use it.
    package var targetActiveKeyPairs = 0
    /// How many active payment processing key pairs the merchant has.
    package var activeKeyPairs = 0
    package let createdAt: Timestamp
    /// Whether a verified backup contains the merchant's newest key pair; absent if the merchant has no key pairs.
    package var newestKeyBackedUp: Bool?
    /// The key pairs that have no certificate yet, oldest first, with their CSRs. Present only in the response to a
    /// request that added the merchant with `generateKeyPairs`.
    package var pendingKeyPairs: [KeyDocument]?

    package init(_ identifier: MerchantIdentifier, createdAt: Timestamp) {
        merchantIdentifier = identifier
        merchantIdentifierHash = MerchantIdentifierHash(of: identifier)
        self.createdAt = createdAt
    }
}

/// The body of `POST /v1/merchants`.
package struct AddMerchantRequest: RequestBody {
    package let merchantIdentifier: MerchantIdentifier
    package var name: String?
    /// 0 to 16; if absent, 2.
    package var targetActiveKeyPairs: Int?
    /// Whether to generate EC_v1 key pairs, each with a CSR, until the merchant has as many key pairs as
    /// `targetActiveKeyPairs`. Only pending, current and standby key pairs count, and standby ones only if their
    /// certificate does not expire soon.
    package var generateKeyPairs: Bool?

    package init(_ identifier: MerchantIdentifier) { merchantIdentifier = identifier }
}

/// The body of `PATCH /v1/merchants/{merchantIdentifier}`. If a field is absent, its value does not change.
package struct ChangeMerchantRequest: RequestBody {
    package var name: String?
    package var targetActiveKeyPairs: Int?

    package init() {}
}
