import AsyncHTTPClient
package import Foundation
package import FoundationNetworking
package import MerchantCore
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// A `URLSession` whose requests go out over mutual TLS with trust roots of our choice. Must be shut down.
///
/// TLS 1.2 or newer, server names sent and checked, connections kept and used again. A connection belongs to the identity
/// it was made with: another identity makes connections of its own.
package final class SecureTransport: Sendable {
    /// Sizes in bytes.
    package struct Limits: Sendable {
        package var request = 1 << 20
        package var answer = 1 << 20

        package init() {}
    }

    package let limits: Limits
    let client: HTTPClient
    private let roots: TrustRoots
    private let addresses: [String: String]
    private let connectTimeout: Duration
    /// Where sessions call their completion handlers.
    private let completions = OperationQueue()
    /// The last identity's TLS settings, since reading certificates costs more than a request.
    private let latest = Mutex<(chain: [[UInt8]], tls: TLSConfiguration)?>(nil)

    /// - Parameters:
    ///   - addresses: by host name, the address to ask instead of the one it resolves to; the name stays the server's name.
    package init(
        roots: TrustRoots, connectTimeout: Duration, limits: Limits = Limits(), idleTimeout: Duration = .seconds(30),
        addresses: [String: String] = [:]
    ) {
        self.roots = roots
        self.addresses = addresses
        self.limits = limits
        self.connectTimeout = connectTimeout
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: Self.tls(roots), redirectConfiguration: .disallow,
            timeout: .init(connect: TimeAmount(connectTimeout)),
            connectionPool: .init(
                idleTimeout: TimeAmount(idleTimeout), concurrentHTTP1ConnectionsPerHostSoftLimit: 16))
        configuration.httpVersion = .http1Only
        configuration.dnsOverride = addresses
        // Whether to try again is for the caller to say, who knows what a repeat does.
        configuration.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
    }

    package func shutdown() async {
        // Ends what is under way too. The one error there is says that it was shut down before.
        try? await client.shutdown()
    }

    /// One exchange, never repeated and never redirected. `timeoutInterval` bounds it.
    ///
    /// - Parameter identity: what to show to the server; nil shows nothing.
    package func data(
        for request: URLRequest, identity: ClientIdentity? = nil
    ) async throws(TransportFailure) -> (Data, HTTPURLResponse) {
        let carriage = Carriage(transport: self, tls: try tls(for: identity))
        do {
            let (data, response) = try await TransportURLProtocol.carrying(request, on: carriage) {
                try await answer(to: $0, on: carriage)
            }
            return (data, response)
        } catch let failure as TransportFailure {
            throw await explained(failure, request, identity)
        } catch {
            throw .unreachable("\(error)")
        }
    }

    /// A session that keeps nothing and sends nothing of its own.
    private static var sessionConfiguration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [TransportURLProtocol.self]
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        return configuration
    }

    /// The session's task always completes, and once; cancelling ours gives up its carriage.
    ///
    /// Each exchange has a session of its own: Foundation on Linux keeps a session's tasks in a dictionary that only its own
    /// queue may touch, and reads it on the thread on which a URLProtocol reports. With one task there is nobody to race.
    private func answer(to request: URLRequest, on carriage: Carriage) async throws -> (Data, HTTPURLResponse) {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let session = URLSession(
                    configuration: Self.sessionConfiguration, delegate: nil, delegateQueue: completions)
                session.dataTask(with: request) { data, response, error in
                    if let response = response as? HTTPURLResponse, error == nil {
                        continuation.resume(returning: (data ?? Data(), response))
                    } else {
                        continuation.resume(throwing: error ?? TransportFailure.notHTTP("no HTTP answer"))
                    }
                }.resume()
            }
        } onCancel: {
            carriage.cancel()
        }
    }

    private func tls(for identity: ClientIdentity?) throws(TransportFailure) -> TLSConfiguration {
        guard let identity else { return Self.tls(roots) }
        if let known = latest.withLock({ $0 }), known.chain == identity.certificateChain { return known.tls }
        var tls = Self.tls(roots)
        do {
            tls.certificateChain = try identity.certificateChain.map {
                .certificate(try NIOSSLCertificate(bytes: $0, format: .der))
            }
        } catch { throw .identityUnusable("the identity's certificate cannot be read by TLS") }
        tls.privateKey = .privateKey(NIOSSLPrivateKey(customPrivateKey: IdentityKey(identity)))
        latest.withLock { [tls] in $0 = (identity.certificateChain, tls) }
        return tls
    }

    static func tls(_ roots: TrustRoots) -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.trustRoots = roots.roots
        // How long a server is waited for that does not say goodbye.
        tls.shutdownTimeout = .seconds(1)
        return tls
    }

    /// TLS says only that a certificate does not verify. A second look, which sends no request, says what is wrong with it.
    private func explained(
        _ failure: TransportFailure, _ request: URLRequest, _ identity: ClientIdentity?
    ) async -> TransportFailure {
        guard case .serverUntrusted(let found) = failure, let url = request.url,
            let host = url.host(percentEncoded: false)
        else { return failure }
        let address = addresses[host] ?? host
        let probe = CertificateProbe(roots: roots, patience: connectTimeout)
        guard let look = await probe.look(at: address, port: url.port ?? 443, serverName: host) else { return failure }
        return .serverUntrusted(look.verdict(assuming: found.fault, for: host))
    }
}

extension TimeAmount {
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self = .nanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
