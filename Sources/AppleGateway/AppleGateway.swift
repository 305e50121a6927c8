package import Logging
package import MerchantCore
package import OutboundHTTP
import Vocabulary

/// A client of the services of Apple that require the identity certificate: the Web Merchant Registration API, merchant
/// sessions, and the Merchant Token Management API. All their calls go through one ``GatewayTransport``.
package final class AppleGateway: Sendable {
    package struct Settings: Sendable {
        package var endpoint: GatewayEndpoint
        /// The limit for one attempt, from its start to the end of the response. A session call has a limit of its own.
        package var responseTimeout: Duration = .seconds(30)
        package var retries = RetryPolicy()
        package var userAgent = "merchantkeyd"
        package var eventMethod = EventMethod.get

        package init(endpoint: GatewayEndpoint) { self.endpoint = endpoint }
    }

    /// The method with which events of merchant tokens are fetched. Apple's reference says GET, Apple's integration
    /// guide says POST.
    package enum EventMethod: String, NamedValue {
        case get = "GET"
        case post = "POST"
    }

    package typealias Sleep = @Sendable (Duration) async throws -> Void

    let settings: Settings
    let transport: GatewayTransport

    package var metrics: GatewayMetrics { transport.metrics }

    /// - Parameters:
    ///   - client: the HTTP client, which ``shutdown()`` shuts down.
    ///   - sleep: waits between two attempts; tests replace it.
    package init(
        settings: Settings, client: OutboundClient, identities: any IdentitySource, clock: any WallClock,
        logger: Logger, sleep: @escaping Sleep = { try await Task.sleep(for: $0) }
    ) {
        self.settings = settings
        transport = GatewayTransport(
            userAgent: settings.userAgent, client: client, identities: identities, clock: clock, logger: logger,
            sleep: sleep)
    }

    package func shutdown() async { await transport.shutdown() }

    /// The limits of calls that are not sessions.
    var limits: GatewayCallLimits {
        GatewayCallLimits(
            call: RegistrationCall.timeLimit, attempt: settings.responseTimeout, shortestAttempt: .seconds(5),
            retries: settings.retries)
    }
}
