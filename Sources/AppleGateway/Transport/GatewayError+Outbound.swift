import Foundation
import MerchantCore
import OutboundHTTP
import Vocabulary

extension ClientIdentity {
    /// Names the client certificate that was presented, for messages.
    var summary: String { "publicKeyHash \(publicKeyHash), valid until \(notAfter)" }
}

extension GatewayError {
    /// Whether the same call may succeed some seconds later.
    var isTransient: Bool {
        switch kind {
        case .rateLimited, .failedAtApple, .unreachable, .responseNotReceived: true
        case .refused, .unauthorized, .forbidden, .notFound, .conflict, .platformNotRegistered, .unexpectedResponse,
            .serverUntrusted, .identityUnusable, .circuitOpen:
            false
        }
    }

    init(_ failure: OutboundFailure, of operation: GatewayOperation, at url: URL, with identity: ClientIdentity) {
        let url = "https://\(GatewayLane(url, operation.api).authority)"
        // A call that only reads cannot have changed anything at Apple.
        let changesState = operation.changesState
        switch failure {
        case .unreachable(let reason):
            self.init(.unreachable, "Apple cannot be reached at \(url): \(reason)", mayHaveActed: false)
        case .responseLost(let reason):
            self.init(.responseNotReceived, "no response was received: \(reason)", mayHaveActed: changesState)
        case .serverUntrusted(let found):
            let hint =
                found.reason == .untrusted
                ? "; the daemon trusts the roots in apple.gateway.trust-roots, or the system's roots by default: if you trust this server, add its root to apple.gateway.trust-roots"
                : ""
            self.init(.serverUntrusted, "\(found.description)\(hint) (\(url))", mayHaveActed: false)
        case .clientCertificateRefused(let reason):
            self.init(
                .unauthorized, "the server refused the identity in TLS: \(reason) (\(identity.summary))",
                mayHaveActed: false)
        case .identityUnusable(let reason): self.init(.identityUnusable, reason, mayHaveActed: false)
        case .notHTTP(let reason):
            self.init(
                .unexpectedResponse, "the server does not speak HTTP: \(reason)", mayHaveActed: changesState)
        case .responseTooLarge(let limit):
            self.init(
                .unexpectedResponse, "the response has more than \(limit) bytes", mayHaveActed: changesState)
        case .requestTooLarge(let limit):
            self.init(.refused, "the request has more than \(limit) bytes", mayHaveActed: false)
        case .timedOut(after: let timeout, isSent: true):
            self.init(
                .responseNotReceived, "no response within \(timeout.roundedUpSeconds) s",
                mayHaveActed: changesState)
        // Apple may have acted even if the request is not recorded as sent. The timer runs on another event loop than
        // the connection, so a request can be sent before the timeout and recorded after it.
        case .timedOut(after: let timeout, isSent: false):
            self.init(
                .unreachable, "no connection within \(timeout.roundedUpSeconds) s", mayHaveActed: changesState)
        case .cancelled(let isSent):
            self.init(
                isSent ? .responseNotReceived : .unreachable, "the call was cancelled before its response",
                mayHaveActed: changesState)
        }
    }
}

extension Duration {
    var roundedUpSeconds: Int { Int((self / .seconds(1)).rounded(.up)) }
}
