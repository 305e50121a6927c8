import AsyncHTTPClient
import NIOCore
import NIOSSL
import NameResolution
import Vocabulary

/// The way to a webhook: connections to one address that was judged. The name is not resolved again behind it, so that
/// an answer of the name server which changes in between changes nothing.
struct Route: Sendable {
    let address: NetworkAddress
    let client: HTTPClient
    let resolved: ContinuousClock.Instant

    init(to webhook: Webhook, at address: NetworkAddress, connections: Int, connectTimeout: TimeAmount) {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        if let roots = webhook.trustRoots { tls.trustRoots = .certificates(roots) }
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow, timeout: .init(connect: connectTimeout),
            connectionPool: .init(
                idleTimeout: .seconds(20), concurrentHTTP1ConnectionsPerHostSoftLimit: connections))
        configuration.httpVersion = .http1Only
        configuration.connectionPool.retryConnectionEstablishment = false
        if webhook.address.literal == nil { configuration.dnsOverride = [webhook.address.host: "\(address)"] }
        self.address = address
        client = HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
        resolved = .now
    }
}

/// Keeps the present route to a webhook, and looks its name up again from time to time and after each failure.
actor Routes {
    static let memory = Duration.seconds(60)
    private static let resolverPatience = Duration.seconds(5)

    private let webhook: Webhook
    private let limits: EventDelivery.Limits
    private var route: Route?
    /// Which of several addresses is used: after a failure the next one.
    private var turn = 0

    init(to webhook: Webhook, limits: EventDelivery.Limits) {
        self.webhook = webhook
        self.limits = limits
    }

    /// - Throws: ``DeliveryFault`` where the name leads nowhere, or only to addresses that are not allowed.
    func current() async throws -> Route {
        if let route, route.resolved + Self.memory > .now { return route }
        let found: [NetworkAddress] =
            if let literal = webhook.address.literal { [literal] } else {
                try await addresses()
            }
        let allowed = found.filter { webhook.allowsInternalAddresses || !$0.isInternal }
        guard !allowed.isEmpty else {
            throw DeliveryFault(
                found.isEmpty
                    ? "the host's name has no address"
                    : "the host is at the internal address \(found[0]), expected a public one or allow-internal-addresses"
            )
        }
        // Another attempt may have got here first while this one waited.
        if let route, route.resolved + Self.memory > .now { return route }
        let next = Route(
            to: webhook, at: allowed[turn % allowed.count], connections: limits.concurrency,
            connectTimeout: limits.connect)
        retire(route)
        route = next
        return next
    }

    private func addresses() async throws -> [NetworkAddress] {
        do {
            return try await NameResolution.addresses(of: webhook.address.host, within: Self.resolverPatience)
                .compactMap(NetworkAddress.init(bytes:))
        } catch NameResolutionError.notResolved(let why) {
            throw DeliveryFault("the host's name cannot be resolved: \(why)")
        } catch NameResolutionError.tookTooLong {
            throw DeliveryFault("the host's name was not resolved in time")
        }
    }

    /// The route failed: the next attempt looks the name up again.
    func failed(_ used: Route) {
        guard let route, route.client === used.client else { return }
        turn += 1
        self.route = nil
        retire(route)
    }

    func close() async {
        let last = route
        route = nil
        try? await last?.client.shutdown()
    }

    /// Lets attempts that still use it finish.
    private func retire(_ old: Route?) {
        guard let old else { return }
        let wait = limits.attempt
        Task {
            try? await Task.sleep(for: wait + .seconds(1))
            try? await old.client.shutdown()
        }
    }
}
