import Vocabulary

/// A domain of a merchant that has an identity certificate of its own. At Apple, the merchant registers such a domain
/// in the developer portal.
package struct MerchantDomain: Hashable, Sendable {
    let merchant: MerchantIdentifier
    /// In lower case.
    let domain: String

    /// Parses `MERCHANT=DOMAIN`. A merchant identifier contains no `=`.
    package init(_ text: String) throws(SandboxError) {
        let parts = text.split(separator: "=", omittingEmptySubsequences: false)
        guard parts.count == 2, let merchant = MerchantIdentifier(parts[0]),
            RegistrationRequest.isDomain(String(parts[1]))
        else { throw SandboxError("'\(text)' is not the domain of a merchant, expected merchant.…=DOMAIN") }
        self.merchant = merchant
        domain = parts[1].lowercased()
    }
}
