package import Vocabulary

/// Checks requests against Apple's limits before they are sent.
///
/// Source: Apple, Web Merchant Registration API, RegisterMerchantRequest and UnregisterMerchantRequest.
package enum RegistrationRules {
    /// The longest `partnerMerchantName`, in UTF-8 bytes.
    package static let longestName = RegistrationLimits.nameBytes
    /// The longest reason of an unregistration, in UTF-8 bytes.
    package static let longestReason = 1024
    /// The longest `merchantUrl`, in bytes.
    package static let longestURL = RegistrationLimits.urlBytes

    /// - Throws: `malformed` unless the text is an absolute http or https URL with a host, and without user and
    ///   password.
    package static func check(merchantUrl text: String) throws(MerchantError) {
        if let refusal = RegistrationLimits.refusal(ofMerchantURL: text) {
            throw MerchantError(.malformed, "'merchantUrl' \(refusal)")
        }
    }

    /// - Returns: the names, each once.
    /// - Throws: `malformed` for an empty list or a repeated name; `tooManyDomains` for more than Apple accepts.
    package static func distinct(_ domainNames: [DomainName]) throws(MerchantError) -> Set<DomainName> {
        if let refusal = RegistrationLimits.refusal(of: domainNames) {
            let isTooLong = domainNames.count > RegistrationLimits.domains
            throw MerchantError(isTooLong ? .tooManyDomains : .malformed, "'domainNames' \(refusal)")
        }
        return Set(domainNames)
    }

    /// - Throws: `tooManyDomains` if the merchant would have more domains in total than Apple accepts.
    package static func checkTotal(
        of registration: Registration?, adding domainNames: Set<DomainName>
    ) throws(MerchantError) {
        let before = registration?.countedDomains ?? []
        let total = before.union(domainNames.map(\.rawValue)).count
        guard total <= Registration.maximumDomains else {
            throw MerchantError(
                .tooManyDomains,
                "the merchant has \(before.count.counted("domain")) and would have \(total), but Apple accepts at most \(Registration.maximumDomains) in all: unregister some domains first"
            )
        }
    }
}
