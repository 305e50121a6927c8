/// The merchant that is paid, and where the buyer pays, for ``DecryptorClient/requestMerchantSession(_:)``.
public struct MerchantSessionParameters: Sendable {
    /// The merchant that is paid.
    public enum Merchant: Sendable {
        /// A merchant ID, `merchant.…`, with an identity certificate of its own in the daemon.
        case identifier(String)
        /// The `partnerInternalMerchantIdentifier` of a merchant that the platform has registered with Apple.
        case registration(String)
    }

    /// Where the buyer pays.
    public enum Place: Sendable {
        /// The domain in the browser's address bar. For a page inside a frame, the domain of the top-level page.
        case web(domain: String)
        /// The URL of the Messages for Business gateway, and the platform's domain.
        case messaging(url: String, domainName: String)
        /// The team ID of the app's developer.
        case inApp(teamIdentifier: String)
    }

    /// The merchant that is paid.
    public var merchant: Merchant
    /// The name that the buyer sees, 1 to 64 bytes of UTF-8.
    public var displayName: String
    /// Where the buyer pays.
    public var place: Place
    /// The `validationURL` of the event `onvalidatemerchant`, unchanged. The daemon accepts only the hosts of its
    /// setting `sessions.validation-hosts`. nil for the gateway of the daemon's settings.
    public var validationURL: String?

    /// Creates the parameters of a request.
    public init(merchant: Merchant, displayName: String, place: Place, validationURL: String? = nil) {
        self.merchant = merchant
        self.displayName = displayName
        self.place = place
        self.validationURL = validationURL
    }
}

extension MerchantSessionParameters.Place {
    var initiative: String {
        switch self {
        case .web: "web"
        case .messaging: "messaging"
        case .inApp: "in_app"
        }
    }

    var initiativeContext: String {
        switch self {
        case .web(let domain): domain
        case .messaging(let url, _): url
        case .inApp(let teamIdentifier): teamIdentifier
        }
    }

    var domainName: String? {
        if case .messaging(_, let domainName) = self { domainName } else { nil }
    }
}
