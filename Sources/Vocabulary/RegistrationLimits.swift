import FoundationEssentials

/// What a registration with Apple may contain, so that the daemon and the programs that prepare registrations check the
/// same limits.
///
/// Source: Apple, Web Merchant Registration API, RegisterMerchantRequest.
package enum RegistrationLimits {
    /// The largest number of domains of one registration.
    package static let domains = 99
    /// The longest `partnerMerchantName`, in UTF-8 bytes.
    package static let nameBytes = 1024
    /// The longest `merchantUrl`, in bytes. This is the daemon's own limit; Apple documents none.
    package static let urlBytes = 2048

    /// Why a text is not a `merchantUrl`: the end of an error message; the caller writes the name of the field before
    /// it.
    ///
    /// - Returns: nil if the text is an absolute http or https URL with a host, and without user and password.
    package static func refusal(ofMerchantURL text: String) -> String? {
        do throws(DisplayText.Fault) { _ = try DisplayText(text, longest: urlBytes) } catch { return "\(error)" }
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), let url = URLComponents(string: text),
            ["http", "https"].contains(url.scheme?.lowercased()), url.host?.isEmpty == false, url.user == nil,
            url.password == nil
        else {
            return
                "is '\(text.prefix(300))', expected a URL such as https://shop.example.com/, percent-encoded and without user and password"
        }
        return nil
    }

    /// Why a list of domains cannot be registered with one request. The text is the end of an error message, as in
    /// ``refusal(ofMerchantURL:)``.
    ///
    /// - Returns: nil if the list can be registered.
    package static func refusal(of domainNames: [DomainName]) -> String? {
        guard !domainNames.isEmpty else { return "is empty, expected 1 to \(domains) names" }
        guard domainNames.count <= domains else {
            return "has \(domainNames.count) names, expected at most \(domains)"
        }
        var seen: Set<DomainName> = []
        guard let repeated = domainNames.first(where: { !seen.insert($0).inserted }) else { return nil }
        return "contains '\(repeated)' twice (upper and lower case do not differ): write each name once"
    }
}
