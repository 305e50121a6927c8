import FoundationEssentials
package import Vocabulary

/// Checks requests against Apple's limits before they are sent.
///
/// Source: Apple, Web Merchant Registration API, RegisterMerchantRequest and UnregisterMerchantRequest.
package enum RegistrationRules {
    /// The longest `partnerMerchantName`, in UTF-8 bytes.
    package static let longestName = 1024
    /// The longest reason of an unregistration, in UTF-8 bytes.
    package static let longestReason = 1024
    /// The longest `merchantUrl`, in bytes. This is the daemon's own limit; Apple documents none.
    package static let longestURL = 2048

    /// - Throws: `malformed` unless the text is an absolute http or https URL with a host, and without user and
    ///   password.
    package static func check(merchantUrl text: String) throws(MerchantError) {
        _ = try DisplayText(text, named: "merchantUrl", longest: longestURL)
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), let url = URLComponents(string: text),
            ["http", "https"].contains(url.scheme?.lowercased()), url.host?.isEmpty == false, url.user == nil,
            url.password == nil
        else {
            throw MerchantError(
                .malformed,
                "'merchantUrl' is '\(text.prefix(300))', expected a URL such as https://shop.example.com/, percent-encoded and without user and password"
            )
        }
    }

    /// - Returns: the names, each once.
    /// - Throws: `malformed` for an empty list or a repeated name; `tooManyDomains` for more than Apple accepts.
    package static func distinct(_ domainNames: [DomainName]) throws(MerchantError) -> Set<DomainName> {
        guard !domainNames.isEmpty else {
            throw MerchantError(
                .malformed, "'domainNames' is empty, expected 1 to \(Registration.maximumDomains) names")
        }
        guard domainNames.count <= Registration.maximumDomains else {
            throw MerchantError(
                .tooManyDomains,
                "'domainNames' has \(domainNames.count) names, expected at most \(Registration.maximumDomains)")
        }
        var seen: Set<DomainName> = []
        for name in domainNames {
            guard seen.insert(name).inserted else {
                throw MerchantError(
                    .malformed,
                    "'domainNames' contains '\(name)' twice (upper and lower case do not differ): write each name once")
            }
        }
        return seen
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
                "the merchant has \(before.count) domains and would have \(total), but Apple accepts at most \(Registration.maximumDomains) in all: unregister some domains first"
            )
        }
    }
}
