package import MetricsKit

/// Counts the requests for merchant sessions, by class of merchant and outcome.
package final class SessionMetrics: MetricsSource {
    package enum MerchantClass: String, CaseIterable, Sendable {
        /// The merchant has an identity key pair of its own.
        case own
        /// The platform has registered the merchant with Apple.
        case registered
    }

    package enum Outcome: String, CaseIterable, Sendable {
        /// Apple issued a session.
        case issued
        /// The merchant or the registration does not exist.
        case merchantNotFound
        case domainNotRegistered
        case merchantUnauthorized
        case merchantWrongKind
        case identityMissing
        case validationURLRefused
        /// Apple refused the request for another reason.
        case refusedByApple
        /// Apple could not be reached, limited the rate or failed, or the circuit breaker has paused the calls to
        /// Apple.
        case appleUnavailable
        /// Another reason, such as a failing disk.
        case failed
    }

    private let own = LabeledCounter<Outcome>()
    private let registered = LabeledCounter<Outcome>()

    package init() {}

    func count(_ outcome: Outcome, of merchant: SessionOrder.Merchant) {
        counter(MerchantClass(merchant)).add(outcome)
    }

    package subscript(merchantClass: MerchantClass, outcome: Outcome) -> Int { counter(merchantClass)[outcome] }

    package func append(to page: inout MetricsText) {
        page.append(
            "merchantkeyd_merchant_sessions_total", .counter,
            "Requests for merchant sessions, by class of merchant and outcome.",
            MerchantClass.allCases.flatMap { merchantClass in
                Outcome.allCases.map { outcome in
                    MetricsText.Sample(
                        [("class", merchantClass.rawValue), ("outcome", outcome.rawValue)],
                        self[merchantClass, outcome])
                }
            })
    }

    private func counter(_ merchantClass: MerchantClass) -> LabeledCounter<Outcome> {
        switch merchantClass {
        case .own: own
        case .registered: registered
        }
    }
}

extension SessionMetrics.MerchantClass {
    fileprivate init(_ merchant: SessionOrder.Merchant) {
        switch merchant {
        case .own: self = .own
        case .registered: self = .registered
        }
    }
}
