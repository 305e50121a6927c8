package import MetricsKit

/// Counts the requests to encrypt card data for in-app provisioning, by outcome.
package final class ProvisioningMetrics: MetricsSource {
    package enum Outcome: String, CaseIterable, Sendable {
        case encrypted
        /// The setting `provisioning.enabled` is false.
        case disabled
        /// Certificates, nonce or card data have faults.
        case dataInvalid
        /// The activation hook failed, or could not be used.
        case activationFailed
        case nonceAlreadyClaimed
        /// Another reason, such as a failing disk.
        case failed
    }

    private let requests = LabeledCounter<Outcome>()

    package init() {}

    func count(_ outcome: Outcome) { requests.add(outcome) }

    package func append(to page: inout MetricsText) {
        page.append(
            "merchantkeyd_provisioning_requests_total", .counter,
            "Requests to encrypt card data for in-app provisioning, by outcome.", requests.samples("outcome"))
    }
}
