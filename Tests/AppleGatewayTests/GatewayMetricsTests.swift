import AppleGateway
import MerchantCore
import MerchantTestSupport
import MetricsKit
import SandboxKit
import Testing
import Vocabulary

/// The metrics of calls to Apple.
@Suite struct GatewayMetricsTests {
    let fixture: GatewayFixture

    init() throws { fixture = try GatewayFixture.shared.get() }

    private func page(_ gateway: AppleGateway) throws -> PrometheusPage {
        var text = MetricsText()
        gateway.metrics.append(to: &text)
        return try PrometheusPage(text.text)
    }

    @Test func `each attempt is counted with its operation and outcome, and an unknown merchant is no failure`()
        async throws
    {
        try await withSandbox(fixture) { sandbox in
            try await withGateway(fixture.gateway(sandbox.url, fixture.files("good"))) { gateway in
                let partner = try #require(PartnerInternalMerchantIdentifier("shop-1"))
                #expect(try await gateway.details(of: partner) == nil)
                try await gateway.register(.sample())
                let refused = await failure { () throws(GatewayError) in
                    try await gateway.unregister(
                        partner, domainNames: [], reason: String(repeating: "x", count: 100_000))
                }
                let page = try self.page(gateway)
                func count(_ operation: String, _ outcome: String) -> Double? {
                    page["merchantkeyd_apple_calls_total", ["operation": operation, "outcome": outcome]]
                }
                #expect(count("getDetails", "success") == 1 && count("getDetails", "refused") == 0)
                #expect(count("registerMerchant", "success") == 1)
                let outcome = refused?.kind.rawValue ?? "success"
                #expect(count("unregisterMerchant", outcome) == 1)
                #expect(
                    page["merchantkeyd_apple_call_duration_seconds_count", ["operation": "registerMerchant"]] == 1)
            }
        }
    }

    @Test func `a call without a connection is counted as unreachable`() async throws {
        // Port 1 of the loopback address is closed.
        try await withGateway(fixture.gateway("https://127.0.0.1:1", fixture.files("good"))) { gateway in
            let partner = try #require(PartnerInternalMerchantIdentifier("shop-1"))
            let failed = await failure { () throws(GatewayError) in _ = try await gateway.details(of: partner) }
            #expect(failed?.kind == .unreachable)
            #expect(
                try page(gateway)[
                    "merchantkeyd_apple_calls_total", ["operation": "getDetails", "outcome": "unreachable"]]
                    == 1)
        }
    }
}
