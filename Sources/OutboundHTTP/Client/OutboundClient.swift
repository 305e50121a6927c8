import AsyncHTTPClient
package import FoundationEssentials
import NIOCore
import NIOHTTP1

/// An HTTPS client for servers that the daemon does not control.
///
/// The client sends each request once and follows no redirect, because only the caller knows whether a repeat is safe.
/// Bodies of requests and responses are not streamed, and their size is limited. The client reuses a connection only
/// for requests with the identity that opened it.
package final class OutboundClient: Sendable {
    package struct Configuration: Sendable {
        package var roots = TrustRoots.system
        package var connectTimeout: Duration = .seconds(10)
        package var idleTimeout: Duration = .seconds(30)
        /// The largest number of connections to one host with one identity. Further requests wait for a connection.
        package var connectionsPerHost = 16
        /// The number of identities whose TLS settings are kept.
        package var keptIdentities = 64
        /// For a host name, the only address to connect to. TLS and HTTP still use the host name.
        package var pinnedAddresses: [String: NetworkAddress] = [:]
        /// The limit of a request's body, in bytes.
        package var largestRequest = 1 << 20
        package var responseBody = ResponseBody.collect(upTo: 1 << 20)

        package init() {}
    }

    package let configuration: Configuration
    private let client: HTTPClient
    private let identities: IdentityTLSCache

    package init(_ configuration: Configuration) {
        self.configuration = configuration
        identities = IdentityTLSCache(
            base: configuration.roots.clientConfiguration, capacity: configuration.keptIdentities)
        var settings = HTTPClient.Configuration(
            tlsConfiguration: configuration.roots.clientConfiguration, redirectConfiguration: .disallow,
            timeout: .init(connect: TimeAmount(configuration.connectTimeout)),
            connectionPool: .init(
                idleTimeout: TimeAmount(configuration.idleTimeout),
                concurrentHTTP1ConnectionsPerHostSoftLimit: configuration.connectionsPerHost))
        settings.httpVersion = .http1Only
        settings.dnsOverride = configuration.pinnedAddresses.mapValues(\.description)
        settings.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: settings)
    }

    /// AsyncHTTPClient requires a shutdown before its client is released.
    deinit { client.shutdown { _ in } }

    /// Cancels running requests and waits until the connections are closed.
    package func shutdown() async {
        // The only error is that the client was shut down before.
        try? await client.shutdown()
    }

    /// Sends one request and waits for its response. Cancelling the task cancels the request.
    ///
    /// - Parameters:
    ///   - identity: the client certificate; nil presents none.
    ///   - timeout: the limit from the start of connecting to the end of the response. If the server is not trusted,
    ///     the method needs additional time to find out why.
    package func send(
        _ request: OutboundRequest, identity: TLSIdentity? = nil, within timeout: Duration
    ) async throws(OutboundFailure) -> OutboundResponse {
        do throws(OutboundFailure) {
            let call = try start(request, identity: identity, within: timeout)
            return try await call.response()
        } catch { throw await explained(error, url: request.url) }
    }

    /// Starts one request and returns at once, for a caller that cannot wait in a task. If the call fails because the
    /// server is not trusted, the failure does not say why. ``explained(_:url:)`` adds the reason.
    package func start(
        _ request: OutboundRequest, identity: TLSIdentity? = nil, within timeout: Duration
    ) throws(OutboundFailure) -> OutboundCall {
        if let body = request.body, body.count > configuration.largestRequest {
            throw .requestTooLarge(limit: configuration.largestRequest)
        }
        let prepared: HTTPClient.Request
        do {
            prepared = try HTTPClient.Request(
                url: request.url, method: HTTPMethod(rawValue: request.method),
                headers: HTTPHeaders(request.headers.map { ($0.name, $0.value) }),
                body: request.body.map { .bytes($0) }, tlsConfiguration: try identities.settings(for: identity))
        } catch let failure as OutboundFailure {
            throw failure
        } catch {
            throw .unreachable(.other("the request cannot be sent: \(error)"))
        }
        let accumulator = ResponseAccumulator(configuration.responseBody)
        let task = client.execute(
            request: prepared, delegate: accumulator, deadline: .now() + TimeAmount(timeout))
        return OutboundCall(task: task, accumulator: accumulator, timeout: timeout)
    }

    /// Adds to ``OutboundFailure/serverUntrusted(_:)`` why the server's certificate is not trusted, and returns any
    /// other failure unchanged.
    ///
    /// TLS reports only that verification failed. This method repeats the handshake, without a request, to read the
    /// certificates.
    package func explained(_ failure: OutboundFailure, url: URL) async -> OutboundFailure {
        guard case .serverUntrusted(let found) = failure, let host = url.host(percentEncoded: false) else {
            return failure
        }
        let probe = ServerCertificateProbe(roots: configuration.roots, timeout: configuration.connectTimeout)
        let certificates = await probe.certificates(
            at: configuration.pinnedAddresses[host]?.description ?? host, port: url.port ?? 443, serverName: host)
        guard let certificates else { return failure }
        return .serverUntrusted(UntrustedServer(certificates, reason: found.reason, host: host))
    }
}

/// One request that was started, and may have ended since.
package struct OutboundCall: Sendable {
    fileprivate let task: HTTPClient.Task<OutboundResponse>
    fileprivate let accumulator: ResponseAccumulator
    fileprivate let timeout: Duration

    /// Fails the call with ``OutboundFailure/cancelled(isSent:)``, unless the call has ended.
    package func cancel() { task.cancel() }

    /// Waits for the response. Cancelling the waiting task cancels the call.
    package func response() async throws(OutboundFailure) -> OutboundResponse {
        let result: Result<OutboundResponse, any Error> = await withTaskCancellationHandler {
            do { return .success(try await task.futureResult.get()) } catch { return .failure(error) }
        } onCancel: {
            task.cancel()
        }
        return try outcome(result).get()
    }

    /// Calls `completion` once, on any thread, when the call has ended.
    package func whenComplete(
        _ completion: @escaping @Sendable (Result<OutboundResponse, OutboundFailure>) -> Void
    ) {
        task.futureResult.whenComplete { completion(outcome($0)) }
    }

    private func outcome(_ result: Result<OutboundResponse, any Error>) -> Result<OutboundResponse, OutboundFailure> {
        switch result {
        case .success(let response): .success(response)
        case .failure(let error):
            // If the body is discarded anyway, a failure while reading it does not matter.
            if let response = accumulator.partialResponse {
                .success(response)
            } else {
                .failure(OutboundFailure(error, isSent: accumulator.isSent, timeout: timeout))
            }
        }
    }
}
