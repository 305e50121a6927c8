import MerchantCore
import Vocabulary

extension MerchantError {
    /// The error that a caller gets for a failed request for a session, with what to do.
    ///
    /// - Parameter owner: whose identity the call presented.
    init(
        sessionRefused error: GatewayError, for order: SessionOrder, as owner: IdentityOwner, environment: Environment
    ) {
        let finding = error.finding
        // Apple's message is more exact than the HTTP status.
        let words = error.appleMessage ?? error.detail
        switch error.kind {
        case _ where words.contains(Self.domainPhrase):
            self.init(
                .sessionDomainNotRegistered,
                "\(finding): Apple does not have this domain for \(order.merchant): register it, check with 'merchantkeyctl registration sync --check' that Apple has it, and send exactly the registered name"
            )
        case _ where Self.authorizationPhrases.contains(where: words.contains):
            self.init(
                .sessionMerchantUnauthorized,
                "\(finding): \(owner.identityText) may not act for \(order.merchant): check the identifier, that the merchant is registered with this identity, and that Apple's \(environment.rawValue) environment has the registration"
            )
        case .refused, .notFound, .conflict:
            self.init(
                .gatewayRefused,
                "\(finding): check displayName, initiative and initiativeContext, and that the merchant is registered with Apple"
            )
        case .unauthorized, .forbidden:
            self.init(
                .gatewayUnauthorized,
                "\(finding): check that \(owner.identityText) is valid, that Apple has not revoked it, and that it is for Apple's \(environment.rawValue) environment, which the setting 'environment' selects"
            )
        case .platformNotRegistered:
            self.init(
                .gatewayUnauthorized,
                "\(finding): Apple does not know the owner of the identity: check that \(owner.identityText) is the one that Apple issued for the \(environment.rawValue) environment, and that the Apple Developer membership is active"
            )
        case .identityUnusable:
            self.init(
                .sessionIdentityMissing,
                "no session was requested, because \(owner.identityText) cannot be used: \(finding)")
        case .responseNotReceived:
            self.init(
                .gatewayResponseNotReceived,
                "\(finding): request the session again, because a session that did not arrive has no effect",
                retryAfter: error.retryAfter ?? 1)
        case .rateLimited, .failedAtApple, .unexpectedResponse, .unreachable, .circuitOpen, .serverUntrusted:
            self.init(error)
        }
    }

    /// Phrases in Apple's `statusMessage`, observed in responses with the statuses 400 and 417. Apple does not document
    /// these phrases.
    private static let domainPhrase = "not registered for domain"
    private static let authorizationPhrases = [
        "unauthorized to process transactions on behalf of", "is not a registered merchant",
    ]
}

extension IdentityOwner {
    fileprivate var identityText: String {
        switch self {
        case .platform: "the platform's identity certificate"
        case .merchant(let merchant): "the identity certificate of \(merchant)"
        }
    }
}

extension SessionMetrics.Outcome {
    /// The outcome of a request that failed with this code.
    init(_ code: MerchantError.Code) {
        self =
            switch code {
            case .merchantNotFound, .registrationNotFound: .merchantNotFound
            case .sessionDomainNotRegistered: .domainNotRegistered
            case .sessionMerchantUnauthorized: .merchantUnauthorized
            case .sessionMerchantWrongKind: .merchantWrongKind
            case .sessionIdentityMissing: .identityMissing
            case .validationURLRefused: .validationURLRefused
            case .gatewayRefused, .gatewayUnauthorized: .refusedByApple
            case .gatewayRateLimited, .gatewayUnavailable, .gatewayFailed, .gatewayResponseNotReceived:
                .appleUnavailable
            default: .failed
            }
    }
}
