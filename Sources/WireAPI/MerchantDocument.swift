/// A merchant as `GET /v1/merchants/{merchantIdentifier}` shows it. Times are RFC 3339 UTC.
package struct MerchantDocument: Codable, Hashable, Sendable {
    package let merchantIdentifier: String
    /// 64 lower-case hexadecimal digits.
    package let merchantIdentifierHash: String
    package let name: String?
    package let targetActiveKeyPairs: Int
    package let activeKeyPairs: Int
    package let createdAt: String
    /// Whether a verified backup holds its newest key pair; absent where it has none.
    package let newestKeyBackedUp: Bool?
    /// Those that wait for a certificate, oldest first, with their CSRs: where key pairs were asked for with the merchant.
    package let pendingKeyPairs: [KeyDocument]?

    package init(
        merchantIdentifier: String, merchantIdentifierHash: String, name: String?, targetActiveKeyPairs: Int,
        activeKeyPairs: Int, createdAt: String, newestKeyBackedUp: Bool? = nil,
        pendingKeyPairs: [KeyDocument]? = nil
    ) {
        self.merchantIdentifier = merchantIdentifier
        self.merchantIdentifierHash = merchantIdentifierHash
        self.name = name
        self.targetActiveKeyPairs = targetActiveKeyPairs
        self.activeKeyPairs = activeKeyPairs
        self.createdAt = createdAt
        self.newestKeyBackedUp = newestKeyBackedUp
        self.pendingKeyPairs = pendingKeyPairs
    }
}
