import Foundation
package import Logging
package import MerchantCore
package import OutboundHTTP
import Synchronization
package import Vocabulary

/// A client of Apple's Web Merchant Registration API, over mutual TLS.
///
/// The client repeats a failed call only if a repeat is safe. After 10 consecutive failures a circuit breaker refuses
/// calls for 30 seconds to 5 minutes. If Apple asks for a pause (status 429, `Retry-After`), every call waits, or fails
/// if the pause is longer than the retry policy allows.
package final class AppleGateway: RegistrationGateway {
    package struct Settings: Sendable {
        package var endpoint: GatewayEndpoint
        /// The limit for one attempt, from its start to the end of the response.
        package var responseTimeout: Duration = .seconds(30)
        package var retries = RetryPolicy()
        package var userAgent = "merchantkeyd"

        package init(endpoint: GatewayEndpoint) { self.endpoint = endpoint }
    }

    package typealias Sleep = @Sendable (Duration) async throws -> Void

    struct State {
        var circuit = Circuit<Timestamp>(
            .init(failuresToOpen: 10, pause: Backoff(first: .seconds(30), longest: .seconds(300))))
        /// The last error that the circuit breaker counted, for messages.
        var lastError = ""
        /// No request is sent before this time, because Apple asked for a pause.
        var pausedUntil: Timestamp?
    }

    let settings: Settings
    let session: GatewaySession
    let identities: any IdentitySource
    let clock: any WallClock
    let sleep: Sleep
    let logger: Logger
    package let metrics = GatewayMetrics()
    let state = Mutex(State())

    /// - Parameters:
    ///   - client: the HTTP client, which ``shutdown()`` shuts down.
    ///   - sleep: waits between two attempts; tests replace it.
    package init(
        settings: Settings, client: OutboundClient, identities: any IdentitySource, clock: any WallClock,
        logger: Logger, sleep: @escaping Sleep = { try await Task.sleep(for: $0) }
    ) {
        self.settings = settings
        session = GatewaySession(client: client)
        self.identities = identities
        self.clock = clock
        self.logger = logger
        self.sleep = sleep
    }

    package func shutdown() async { await session.shutdown() }

    @discardableResult
    package func register(_ request: GatewayRegistration) async throws(GatewayError) -> GatewayReceipt {
        let body = try Self.encode(RegisterMerchantRequest(request))
        let uncertainAttempts = try await change(.registerMerchant, settings.endpoint.register, body)
        return GatewayReceipt(anotherAttemptMayArrive: uncertainAttempts > 0)
    }

    package func unregister(
        _ partner: PartnerInternalMerchantIdentifier, domainNames: [DomainName], reason: String
    ) async throws(GatewayError) {
        let body = try Self.encode(
            UnregisterMerchantRequest(
                domainNames: domainNames.map(\.rawValue), partnerInternalMerchantIdentifier: partner.rawValue,
                reason: reason))
        // The count of uncertain attempts is not needed: an unregister call is never repeated after an attempt on which
        // Apple may have acted.
        _ = try await change(.unregisterMerchant, settings.endpoint.unregister, body)
    }

    package func details(
        of partner: PartnerInternalMerchantIdentifier
    ) async throws(GatewayError) -> GatewayDetails? {
        let (response, _) = try await call(.getDetails, settings.endpoint.details(of: partner), nil)
        return try response.details(of: partner.rawValue)
    }

    /// The state of the circuit breaker alone, without a check of the identity.
    package var circuitHealth: GatewayHealth {
        state.withLock { state in
            state.circuit.openUntil.map { .circuitOpen(until: $0, lastError: state.lastError) } ?? .available
        }
    }

    /// Whether calls to Apple are possible. If the circuit is open and the identity is missing too, the value reports
    /// the open circuit.
    package var health: GatewayHealth {
        let health = circuitHealth
        guard health == .available else { return health }
        do throws(IdentityError) {
            _ = try identities.identity(at: clock.now)
            return .available
        } catch {
            return .notConfigured(error.description)
        }
    }

    /// Makes a call that changes a registration, and throws if Apple's response is not a success.
    ///
    /// - Returns: the number of earlier attempts on which Apple may have acted, or may still act.
    private func change(
        _ operation: GatewayOperation, _ url: URL?, _ body: Data
    ) async throws(GatewayError) -> Int {
        let (response, uncertainAttempts) = try await call(operation, url, body)
        do throws(GatewayError) {
            try response.requireSuccess()
        } catch { throw error.adding(uncertainAttempts: uncertainAttempts) }
        return uncertainAttempts
    }

    private static func encode(_ document: some Encodable) throws(GatewayError) -> Data {
        do { return try GatewayJSON.encode(document) } catch {
            throw GatewayError(.refused, "the request cannot be written as JSON", mayHaveActed: false)
        }
    }
}
