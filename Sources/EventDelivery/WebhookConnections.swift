import OutboundHTTP

/// Connections to one checked address of a webhook's host. The name is not resolved again for them, so that a change in the
/// name server cannot redirect them.
struct WebhookConnection: Sendable {
    let client: OutboundClient
    let resolvedAt: ContinuousClock.Instant

    init(to webhook: Webhook, at address: NetworkAddress, limits: EventDelivery.Limits) {
        var configuration = OutboundClient.Configuration()
        configuration.roots = webhook.trustRoots
        configuration.connectTimeout = limits.connect
        configuration.idleTimeout = .seconds(20)
        configuration.connectionsPerHost = limits.concurrency
        // Read to keep the connection; the content does not matter.
        configuration.responseBody = .discard(upTo: 16_384, within: .seconds(1))
        if webhook.address.literal == nil { configuration.pinnedAddresses = [webhook.address.host: address] }
        client = OutboundClient(configuration)
        resolvedAt = .now
    }
}

/// Keeps the present connection to a webhook. It resolves the name again every minute and after each failure.
actor WebhookConnections {
    private static let resolutionLifetime = Duration.seconds(60)
    private static let resolutionTimeout = Duration.seconds(5)

    private let webhook: Webhook
    private let limits: EventDelivery.Limits
    private var connection: WebhookConnection?
    /// Selects one of several addresses; incremented by each failure.
    private var addressIndex = 0

    init(to webhook: Webhook, limits: EventDelivery.Limits) {
        self.webhook = webhook
        self.limits = limits
    }

    /// - Throws: ``HostResolutionError`` if the name does not resolve, or only to addresses that are not allowed.
    func current() async throws -> WebhookConnection {
        if let connection = valid { return connection }
        let resolver = HostResolver(allowsInternalAddresses: webhook.allowsInternalAddresses)
        let addresses =
            if let literal = webhook.address.literal { try resolver.usable([literal]) } else {
                try await resolver.addresses(of: webhook.address.host, within: Self.resolutionTimeout)
            }
        // Another attempt may have connected while this one waited.
        if let connection = valid { return connection }
        let next = WebhookConnection(to: webhook, at: addresses[addressIndex % addresses.count], limits: limits)
        retire(connection)
        connection = next
        return next
    }

    private var valid: WebhookConnection? {
        connection.flatMap { $0.resolvedAt + Self.resolutionLifetime > .now ? $0 : nil }
    }

    /// Makes the next attempt resolve the name again and use the next address.
    func failed(_ used: WebhookConnection) {
        guard let connection, connection.client === used.client else { return }
        addressIndex += 1
        self.connection = nil
        retire(connection)
    }

    func close() async {
        let last = connection
        connection = nil
        await last?.client.shutdown()
    }

    /// Closes the connection when the attempts that still use it are over.
    private func retire(_ old: WebhookConnection?) {
        guard let old else { return }
        let wait = limits.attempt
        Task {
            try? await Task.sleep(for: wait + .seconds(1))
            await old.client.shutdown()
        }
    }
}
