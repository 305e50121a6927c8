import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOSSL

/// Notifies merchants of the events of their tokens, as Apple does: with a GET request that contains only the event's
/// identifier. Unless the response has status 200, the request is repeated without a pause, at most three times.
///
/// Source: Apple, Merchant Token Notification Services.
final class TokenNotifier: Sendable {
    private static let repeats = 3
    private static let timeLimit = TimeAmount.seconds(10)

    private let client: HTTPClient
    private let store: MerchantTokenStore

    /// - Parameter roots: the roots, in PEM, that are trusted in addition to the system's.
    init(_ store: MerchantTokenStore, trusting roots: [String]) throws {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.additionalTrustRoots = [
            .certificates(try roots.flatMap { try NIOSSLCertificate.fromPEMBytes(Array($0.utf8)) })
        ]
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow, timeout: .init(connect: .seconds(5)))
        configuration.httpVersion = .http1Only
        configuration.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
        self.store = store
    }

    /// Sends the notification of an event, and records the result of each attempt.
    ///
    /// - Parameter url: the token's `tokenNotificationURL`.
    func notify(of event: String, at url: String) async {
        let base = url.hasSuffix("/") ? String(url.dropLast()) : url
        for _ in 0...Self.repeats {
            let result = await status("\(base)/notification/merchantToken/\(event)")
            store.recordNotification(of: event, result)
            if result == "200" { return }
        }
    }

    func stop() async { try? await client.shutdown() }

    /// - Returns: the status of the response, or why there was none.
    private func status(_ url: String) async -> String {
        do {
            let response = try await client.execute(HTTPClientRequest(url: url), timeout: Self.timeLimit)
            // The body is read so that the connection can be used again.
            _ = try await response.body.collect(upTo: 1 << 16)
            return String(response.status.code)
        } catch { return "\(error)" }
    }
}
