import OutboundHTTP

/// An HTTP client that connects only to one checked address of a webhook's host.
///
/// The client never resolves the host name again, so that a later change in DNS cannot redirect it to an address that
/// was not checked.
struct WebhookConnection: Sendable {
    let client: OutboundClient
    let resolvedAt: ContinuousClock.Instant

    init(to webhook: Webhook, at address: NetworkAddress, limits: EventDelivery.Limits) {
        var configuration = OutboundClient.Configuration()
        configuration.roots = webhook.trustRoots
        configuration.connectTimeout = limits.connect
        configuration.idleTimeout = .seconds(20)
        configuration.connectionsPerHost = limits.concurrency
        // The content of the response does not matter. It is read only to be able to use the connection again.
        configuration.responseBody = .discard(upTo: 16_384, within: .seconds(1))
        if webhook.address.literal == nil { configuration.pinnedAddresses = [webhook.address.host: address] }
        client = OutboundClient(configuration)
        resolvedAt = .now
    }
}

/// Keeps the HTTP client that all attempts to deliver to one webhook share.
///
/// After a minute, and after a request without a response, the next attempt resolves the host name again and gets a new
/// client.
actor WebhookConnections {
    private static let resolutionLifetime = Duration.seconds(60)
    private static let resolutionTimeout = Duration.seconds(5)

    private let webhook: Webhook
    private let limits: EventDelivery.Limits
    private var connection: WebhookConnection?
    /// Selects one of the host's addresses. Each failure increments it, so that the next attempt uses another address.
    private var addressIndex = 0

    init(to webhook: Webhook, limits: EventDelivery.Limits) {
        self.webhook = webhook
        self.limits = limits
    }

    /// - Throws: ``HostResolutionError`` if the host name has no address, or only addresses that the settings do not
    ///   allow.
    func current() async throws -> WebhookConnection {
        if let connection = unexpired { return connection }
        let resolver = HostResolver(allowsInternalAddresses: webhook.allowsInternalAddresses)
        let addresses =
            if let literal = webhook.address.literal { try resolver.usable([literal]) } else {
                try await resolver.addresses(of: webhook.address.host, within: Self.resolutionTimeout)
            }
        // Another attempt may have stored a new client while this one resolved the name.
        if let connection = unexpired { return connection }
        let next = WebhookConnection(to: webhook, at: addresses[addressIndex % addresses.count], limits: limits)
        retire(connection)
        connection = next
        return next
    }

    private var unexpired: WebhookConnection? {
        connection.flatMap { $0.resolvedAt + Self.resolutionLifetime > .now ? $0 : nil }
    }

    /// Called after a request without a response: the next attempt resolves the name again and uses the next address.
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

    /// Closes the client after the longest duration of an attempt, when no attempt uses it any more.
    private func retire(_ old: WebhookConnection?) {
        guard let old else { return }
        let wait = limits.attempt
        Task {
            try? await Task.sleep(for: wait + .seconds(1))
            await old.client.shutdown()
        }
    }
}
