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
    package var targetActiveKeyPairs = 0
    package var activeKeyPairs = 0
    package let createdAt: Timestamp
    /// Whether a verified backup contains its newest key pair; absent for a merchant without key pairs.
    package var newestKeyBackedUp: Bool?
    /// The key pairs that wait for a certificate, oldest first, with their CSRs. Present where the request that added the
    /// merchant asked for key pairs.
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
    /// Generates key pairs and CSRs until the merchant has as many as its target.
    package var generateKeyPairs: Bool?

    package init(_ identifier: MerchantIdentifier) { merchantIdentifier = identifier }
}

/// `PATCH /v1/merchants/{merchantIdentifier}`: an absent field stays as it is.
package struct ChangeMerchantRequest: RequestBody {
    package var name: String?
    package var targetActiveKeyPairs: Int?

    package init() {}
}
