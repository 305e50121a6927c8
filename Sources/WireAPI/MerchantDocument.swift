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

    package init(
        merchantIdentifier: String, merchantIdentifierHash: String, name: String?, targetActiveKeyPairs: Int,
        activeKeyPairs: Int, createdAt: String, newestKeyBackedUp: Bool? = nil
    ) {
        self.merchantIdentifier = merchantIdentifier
        self.merchantIdentifierHash = merchantIdentifierHash
        self.name = name
        self.targetActiveKeyPairs = targetActiveKeyPairs
        self.activeKeyPairs = activeKeyPairs
        self.createdAt = createdAt
        self.newestKeyBackedUp = newestKeyBackedUp
    }
}
