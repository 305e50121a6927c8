import MerchantCore

extension MerchantError {
    /// The error that a caller gets for a failed call to Apple.
    init(_ error: GatewayError) {
        let code: Code =
            switch error.kind {
            case .refused, .notFound, .conflict: .gatewayRefused
            case .unauthorized, .forbidden, .platformNotRegistered: .gatewayUnauthorized
            case .rateLimited: .gatewayRateLimited
            case .failedAtApple, .unexpectedResponse: .gatewayFailed
            case .unreachable, .circuitOpen: .gatewayUnavailable
            case .responseNotReceived: .gatewayResponseNotReceived
            case .serverUntrusted: .gatewayUntrusted
            case .identityUnusable: .gatewayNotConfigured
            }
        self.init(code, error.finding, retryAfter: error.retryAfter)
    }

    /// Whether calls for other merchants would fail in the same way.
    var concernsEveryMerchant: Bool {
        switch code {
        case .gatewayRateLimited, .gatewayUnauthorized, .gatewayUntrusted, .gatewayUnavailable, .gatewayNotConfigured:
            true
        default: false
        }
    }
}

extension GatewayError {
    /// The error's detail, with the correlation id of Apple's response if there is one. Apple's support asks for this
    /// id.
    var finding: String {
        correlationIdentifier.map { "\(detail) (Apple's correlation id \($0.prefix(128)))" } ?? detail
    }
}
