import Vocabulary

/// Requests merchant sessions from Apple.
package protocol SessionGateway: Sendable {
    /// Requests one session. The call is repeated at most once, and only if nothing was sent.
    ///
    /// - Parameters:
    ///   - host: one of Apple's hosts, from a validated `validationURL`; nil for the gateway of the settings.
    ///   - timeLimit: the time limit for the whole call, including the repeat.
    /// - Returns: Apple's JSON object, byte for byte.
    func requestSession(
        _ request: SessionRequest, at host: SessionHost?, as owner: IdentityOwner, within timeLimit: Duration
    ) async throws(GatewayError) -> [UInt8]
}

/// The fields of Apple's request for a merchant session.
///
/// Source: Apple, Apple Pay on the Web, "Requesting an Apple Pay Payment Session".
package struct SessionRequest: Hashable, Sendable {
    /// The longest ``displayName``, in UTF-8 bytes.
    package static let longestDisplayName = 64

    /// A merchant ID; for a merchant that is registered through the Web Merchant Registration API, its
    /// partnerInternalMerchantIdentifier.
    package let merchantIdentifier: String
    package let displayName: String
    package let initiative: SessionInitiative
    /// For `web` the domain of the page, for `messaging` the URL of the Messages for Business gateway, for `in_app` the
    /// team ID.
    package let initiativeContext: String
    /// Only for `messaging`.
    package let domainName: String?

    package init(
        merchantIdentifier: String, displayName: String, initiative: SessionInitiative, initiativeContext: String,
        domainName: String? = nil
    ) {
        self.merchantIdentifier = merchantIdentifier
        self.displayName = displayName
        self.initiative = initiative
        self.initiativeContext = initiativeContext
        self.domainName = domainName
    }
}

/// Where the buyer pays.
package enum SessionInitiative: String, NamedValue {
    case web, messaging
    case inApp = "in_app"
}

/// A host from which a session may be requested. The name is in lower case. The port is 443 unless the settings name
/// another port.
package struct SessionHost: Hashable, Sendable {
    package let name: String
    package let port: Int

    package init(name: String, port: Int = 443) {
        self.name = name
        self.port = port
    }

    /// `NAME` or `NAME:PORT`, as in a URL.
    package var authority: String { port == 443 ? name : "\(name):\(port)" }
}
