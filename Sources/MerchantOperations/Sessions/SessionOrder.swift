package import MerchantCore
package import Vocabulary
package import WireAPI

/// A request for a merchant session, whose fields are within their limits. ``SessionOperations`` checks whether the
/// merchant exists and whether the domain is registered.
package struct SessionOrder: Hashable, Sendable {
    /// Whose session it is.
    package enum Merchant: Hashable, Sendable {
        /// A merchant with an identity key pair of its own.
        case own(MerchantIdentifier)
        /// A merchant that the platform has registered with Apple.
        case registered(PartnerInternalMerchantIdentifier)
    }

    /// Where the buyer pays, with the value of Apple's field `initiativeContext`.
    package enum Place: Hashable, Sendable {
        case web(DomainName)
        /// - Parameter domainName: the value of Apple's field `domainName`.
        case messaging(url: String, domainName: DomainName)
        case inApp(teamIdentifier: String)
    }

    package let merchant: Merchant
    package let displayName: String
    package let place: Place
    /// As the caller sent it. It may come from a browser, so nothing in it can be trusted.
    package let validationURL: String?

    package init(
        for merchant: Merchant, displayName: String, place: Place, validationURL: String? = nil
    ) {
        self.merchant = merchant
        self.displayName = displayName
        self.place = place
        self.validationURL = validationURL
    }
}

extension SessionOrder {
    /// The longest URL in `initiativeContext`, in bytes.
    private static let longestURL = 1_024

    /// Reads the body of a request.
    ///
    /// - Throws: `malformed`, naming the field and what it must contain.
    package init(_ request: MerchantSessionRequest) throws(MerchantError) {
        let displayName = try DisplayText(
            request.displayName, named: "displayName", longest: SessionRequest.longestDisplayName)
        self.init(
            for: try Self.merchant(request), displayName: displayName.rawValue, place: try Self.place(request),
            validationURL: request.validationURL)
    }

    private static func merchant(_ request: MerchantSessionRequest) throws(MerchantError) -> Merchant {
        switch (request.merchantIdentifier, request.partnerInternalMerchantIdentifier) {
        case (let merchant?, nil): return .own(merchant)
        case (nil, let partner?): return .registered(partner)
        case (nil, nil):
            throw MerchantError(
                .malformed,
                "the request names no merchant: send 'merchantIdentifier' or 'partnerInternalMerchantIdentifier'")
        case (_?, _?):
            throw MerchantError(
                .malformed,
                "'merchantIdentifier' and 'partnerInternalMerchantIdentifier' exclude each other: send only one of them"
            )
        }
    }

    private static func place(_ request: MerchantSessionRequest) throws(MerchantError) -> Place {
        let initiative = try initiative(request.initiative)
        guard initiative == .messaging || request.domainName == nil else {
            throw MerchantError(
                .malformed, "'domainName' is only for the initiative messaging: leave it out for \(initiative)")
        }
        let context = request.initiativeContext
        switch initiative {
        case .web: return .web(try domain(context, named: "initiativeContext"))
        case .messaging:
            guard isHTTPSURL(context) else {
                throw MerchantError(
                    .malformed,
                    "'initiativeContext' is not an HTTPS URL of at most \(longestURL) printable ASCII characters, which the initiative messaging needs: send the URL of your Messages for Business gateway"
                )
            }
            guard let domainName = request.domainName else {
                throw MerchantError(
                    .malformed, "'domainName' is missing, which the initiative messaging needs: send your domain")
            }
            return .messaging(url: context, domainName: try domain(domainName, named: "domainName"))
        case .inApp:
            guard isTeamIdentifier(context) else {
                throw MerchantError(
                    .malformed,
                    "'initiativeContext' is not a team ID, which the initiative in_app needs: send the 10 upper-case letters and digits of your Apple Developer team"
                )
            }
            return .inApp(teamIdentifier: context)
        }
    }

    private static func initiative(_ text: String) throws(MerchantError) -> SessionInitiative {
        guard let initiative = SessionInitiative(rawValue: text) else {
            throw MerchantError(.malformed, "'initiative' \(SessionInitiative.refusal(of: text))")
        }
        return initiative
    }

    /// Reads a domain in upper or lower case, in Unicode, or with the final dot of a fully qualified name.
    private static func domain(_ text: String, named field: String) throws(MerchantError) -> DomainName {
        let name = text.hasSuffix(".") ? String(text.dropLast()) : text
        guard let domain = DomainName(anySpelling: name) else {
            throw MerchantError(.malformed, "'\(field)' \(DomainName.refusal(of: text))")
        }
        return domain
    }

    /// Apple interprets the URL. The daemon only makes sure that it is one line of bounded length.
    private static func isHTTPSURL(_ text: String) -> Bool {
        text.utf8.count <= longestURL && text.hasPrefix("https://") && text.utf8.count > "https://".utf8.count
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    private static func isTeamIdentifier(_ text: String) -> Bool {
        text.utf8.count == 10
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            }
    }
}
