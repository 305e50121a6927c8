import MerchantCore
package import MetricsKit

/// Counts the attempts of calls to Apple, by operation and outcome.
package final class GatewayMetrics: MetricsSource {
    private let outcomes = Dictionary(
        uniqueKeysWithValues: GatewayOperation.allCases.map { ($0, OutcomeCounts()) })
    private let durations = Dictionary(
        uniqueKeysWithValues: GatewayOperation.allCases.map {
            ($0, DurationHistogram(bounds: DurationHistogram.networkBounds))
        })

    init() {}

    /// - Parameter error: nil if Apple performed the operation.
    func count(_ operation: GatewayOperation, _ error: GatewayError?, after duration: Duration) {
        outcomes[operation]?.add(error?.kind)
        durations[operation]?.record(duration)
    }

    package func append(to page: inout MetricsText) {
        page.append(
            "merchantkeyd_apple_calls_total", .counter, "Attempts of calls to Apple, by operation and outcome.",
            GatewayOperation.allCases.flatMap { operation in
                outcomes[operation]?.samples([("operation", operation.rawValue)]) ?? []
            })
        page.append(
            "merchantkeyd_apple_call_duration_seconds", .histogram,
            "Duration of an attempt of a call to Apple, until the response or the failure.",
            GatewayOperation.allCases.flatMap { operation in
                durations[operation].map {
                    MetricsText.samples($0.snapshot, [("operation", operation.rawValue)])
                } ?? []
            })
    }

    /// The attempts of one operation.
    private final class OutcomeCounts: Sendable {
        private let successes = AtomicCounts(count: 1)
        private let failures = LabeledCounter<GatewayError.Kind>()

        /// - Parameter failure: nil for a success.
        func add(_ failure: GatewayError.Kind?) {
            if let failure { failures.add(failure) } else { successes.add(at: 0) }
        }

        func samples(_ labels: [(name: String, value: String)]) -> [MetricsText.Sample] {
            [MetricsText.Sample(labels + [("outcome", "success")], successes[0])]
                + GatewayError.Kind.allCases.map {
                    MetricsText.Sample(labels + [("outcome", $0.rawValue)], failures[$0])
                }
        }
    }
}
