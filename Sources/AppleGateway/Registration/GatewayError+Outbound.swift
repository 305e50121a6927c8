import MerchantCore
import OutboundHTTP
import Vocabulary

extension ClientIdentity {
    /// Names the client certificate that was presented, for messages.
    var summary: String { "presented: \(publicKeyHash), valid until \(notAfter)" }
}

extension GatewayError {
    /// Whether the same call may succeed some seconds later.
    var isTransient: Bool {
        switch kind {
        case .rateLimited, .failedAtApple, .unreachable, .responseNotReceived: true
        case .refused, .unauthorized, .platformNotRegistered, .unexpectedAnswer, .serverUntrusted, .identityUnusable,
            .circuitOpen:
            false
        }
    }

    /// - Parameter url: the URL of the gateway.
    init(_ failure: OutboundFailure, of operation: GatewayOperation, at url: String, with identity: ClientIdentity) {
        let changes = operation.changesRegistration
        switch failure {
        case .unreachable(let reason):
            self.init(.unreachable, "Apple cannot be reached at \(url): \(reason)", mayHaveActed: false)
        case .responseLost(let reason):
            self.init(.responseNotReceived, "no response was received: \(reason)", mayHaveActed: changes)
        case .serverUntrusted(let found):
            let hint =
                found.reason == .untrusted
                ? ", expected a root of the setting apple.gateway.trust-roots, or of the system if that is not set"
                : ""
            self.init(.serverUntrusted, "\(found.description)\(hint) (\(url))", mayHaveActed: false)
        case .clientCertificateRefused(let reason):
            self.init(
                .unauthorized, "the server refused the identity in TLS: \(reason) (\(identity.summary))",
                mayHaveActed: false)
        case .identityUnusable(let reason): self.init(.identityUnusable, reason, mayHaveActed: false)
        case .notHTTP(let reason):
            self.init(.unexpectedAnswer, "the server does not speak HTTP: \(reason)", mayHaveActed: changes)
        case .responseTooLarge(let limit):
            self.init(.unexpectedAnswer, "the response has more than \(limit) bytes", mayHaveActed: changes)
        case .requestTooLarge(let limit):
            self.init(.refused, "the request has more than \(limit) bytes", mayHaveActed: false)
        case .timedOut(let timeout, true):
            self.init(.responseNotReceived, "no response within \(timeout.roundedUpSeconds) s", mayHaveActed: changes)
        // Apple may have acted although the request is not recorded as sent: the timer runs on another event loop than
        // the connection, so the record can be made just after the timeout.
        case .timedOut(let timeout, false):
            self.init(.unreachable, "no connection within \(timeout.roundedUpSeconds) s", mayHaveActed: changes)
        case .cancelled(let isSent):
            self.init(
                isSent ? .responseNotReceived : .unreachable, "the call was cancelled before its response",
                mayHaveActed: changes)
        }
    }
}

extension Duration {
    var roundedUpSeconds: Int { Int((self / .seconds(1)).rounded(.up)) }
}
