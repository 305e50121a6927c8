package import Vocabulary

extension Paths {
    package static let merchantSessions = "/v1/merchant-sessions"
}

/// The body of `POST /v1/merchant-sessions`. The response is Apple's session object, byte for byte.
package struct MerchantSessionRequest: RequestBody {
    /// A merchant with an identity key pair of its own. The request has either this field or
    /// `partnerInternalMerchantIdentifier`.
    package var merchantIdentifier: MerchantIdentifier?
    /// A merchant that the platform has registered with Apple.
    package var partnerInternalMerchantIdentifier: PartnerInternalMerchantIdentifier?
    /// The name that the buyer sees, 1 to 64 bytes of UTF-8.
    package let displayName: String
    /// `web`, `messaging` or `in_app`.
    package let initiative: String
    /// For `web` the domain of the page, for `messaging` an HTTPS URL, for `in_app` the team ID.
    package let initiativeContext: String
    /// The platform's domain. Required for the initiative `messaging`, and refused for the other initiatives.
    package var domainName: String?
    /// The `validationURL` that Safari gave the page. Without it, the daemon calls the gateway of its settings.
    package var validationURL: String?

    package init(displayName: String, initiative: String, initiativeContext: String) {
        (self.displayName, self.initiative, self.initiativeContext) = (displayName, initiative, initiativeContext)
    }
}
