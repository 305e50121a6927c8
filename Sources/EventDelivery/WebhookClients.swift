import OutboundHTTP

/// An HTTP client that connects to only one address of a webhook's host: a public address, or an internal address that
/// the settings allow.
///
/// The client never resolves the host name again. Otherwise, a later change in DNS could redirect the client to an
/// internal address.
struct WebhookClient: Sendable {
    let httpClient: OutboundClient
    let resolvedAt: ContinuousClock.Instant

    /// - Parameter keptBodyBytes: how many bytes of a response's body are kept.
    init(to webhook: Webhook, at address: NetworkAddress, limits: EventDelivery.Limits, keptBodyBytes: Int) {
        var configuration = OutboundClient.Configuration()
        configuration.roots = webhook.trustRoots
        configuration.connectTimeout = limits.connectTimeout
        configuration.idleTimeout = .seconds(20)
        configuration.connectionsPerHost = limits.concurrentAttempts
        // The content of the response does not matter for a delivery. The client reads it only so that it can reuse the
        // connection.
        configuration.responseBody = .discard(upTo: 16_384, within: .seconds(1), keeping: keptBodyBytes)
        if webhook.address.ipAddress == nil { configuration.pinnedAddresses = [webhook.address.host: address] }
        httpClient = OutboundClient(configuration)
        resolvedAt = .now
    }
}

/// Creates the HTTP clients for one webhook. All attempts share one client at a time.
///
/// After a minute, and after a request without a response, the next attempt resolves the host name again and gets a new
/// client.
actor WebhookClients {
    private static let resolutionLifetime = Duration.seconds(60)
    private static let resolutionTimeout = Duration.seconds(5)

    private let webhook: Webhook
    private let limits: EventDelivery.Limits
    private let keptBodyBytes: Int
    private var shared: WebhookClient?
    /// The index of the host's address to use. Each failure increments the index, so that the next client uses another
    /// address.
    private var addressIndex = 0

    /// - Parameter keptBodyBytes: how many bytes of a response's body are kept.
    init(to webhook: Webhook, limits: EventDelivery.Limits, keptBodyBytes: Int = 0) {
        self.webhook = webhook
        self.limits = limits
        self.keptBodyBytes = keptBodyBytes
    }

    /// Returns the shared client; creates a new client if there is none or the last one is older than a minute.
    ///
    /// - Throws: ``HostResolutionError`` if the host name cannot be resolved, or has only addresses that the settings
    ///   do not allow.
    func client() async throws -> WebhookClient {
        if let client = unexpired { return client }
        let resolver = HostResolver(allowsInternalAddresses: webhook.allowsInternalAddresses)
        let addresses =
            if let ipAddress = webhook.address.ipAddress { try resolver.usable([ipAddress]) } else {
                try await resolver.addresses(of: webhook.address.host, within: Self.resolutionTimeout)
            }
        // Another attempt may have created a client while this attempt resolved the name.
        if let client = unexpired { return client }
        let next = WebhookClient(
            to: webhook, at: addresses[addressIndex % addresses.count], limits: limits, keptBodyBytes: keptBodyBytes)
        closeAfterUse(shared)
        shared = next
        return next
    }

    private var unexpired: WebhookClient? {
        shared.flatMap { $0.resolvedAt + Self.resolutionLifetime > .now ? $0 : nil }
    }

    /// Discards a client after a request without a response: the next attempt resolves the name again and uses the next
    /// address.
    func discard(_ failed: WebhookClient) {
        // Another attempt may have discarded the client already.
        guard let shared, shared.httpClient === failed.httpClient else { return }
        addressIndex += 1
        self.shared = nil
        closeAfterUse(shared)
    }

    func close() async {
        let last = shared
        shared = nil
        await last?.httpClient.shutdown()
    }

    /// Closes a client when no attempt can still use it: after the longest duration of an attempt, and one second for
    /// reading the body of the response.
    private func closeAfterUse(_ client: WebhookClient?) {
        guard let client else { return }
        let wait = limits.attemptTimeout
        Task {
            try? await Task.sleep(for: wait + .seconds(1))
            await client.httpClient.shutdown()
        }
    }
}
