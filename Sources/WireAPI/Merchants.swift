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
    /// How many active key pairs the merchant should have.
    package var targetActiveKeyPairs = 0
    /// How many active key pairs the merchant has.
    package var activeKeyPairs = 0
    package let createdAt: Timestamp
    /// Whether a verified backup contains the merchant's newest key pair; absent if the merchant has no key pairs.
    package var newestKeyBackedUp: Bool?
    /// The key pairs that wait for a certificate, oldest first, with their CSRs. Present only in the response to a
    /// request that added the merchant with `generateKeyPairs`.
    package var pendingKeyPairs: [KeyDocument]?

    package init(_ identifier: MerchantIdentifier, createdAt: Timestamp) {
        merchantIdentifier = identifier
        merchantIdentifierHash = MerchantIdentifierHash(of: identifier)
        self.createdAt = createdAt
    }
}

/// `POST /v1/merchants`.
package struct AddMerchantRequest: RequestBody {
    package let merchantIdentifier: MerchantIdentifier
    package var name: String?
    package var targetActiveKeyPairs: Int?
    /// Whether to generate key pairs with CSRs until the merchant has as many as `targetActiveKeyPairs`.
    package var generateKeyPairs: Bool?

    package init(_ identifier: MerchantIdentifier) { merchantIdentifier = identifier }
}

/// `PATCH /v1/merchants/{merchantIdentifier}`. Absent fields keep their values.
package struct ChangeMerchantRequest: RequestBody {
    package var name: String?
    package var targetActiveKeyPairs: Int?

    package init() {}
}
