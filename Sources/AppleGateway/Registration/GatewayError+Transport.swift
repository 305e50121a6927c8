import MerchantCore
import Vocabulary

extension GatewayError {
    /// Whether the same call may fare better a little later.
    var isTransient: Bool {
        switch kind {
        case .rateLimited, .failedAtApple, .unreachable, .answerLost: true
        case .refused, .unauthorized, .platformNotRegistered, .unexpectedAnswer, .serverUntrusted, .identityUnusable,
            .circuitOpen:
            false
        }
    }

    init(_ failure: TransportFailure, of operation: GatewayOperation, with identity: ClientIdentity) {
        let changes = operation.changes
        switch failure {
        case .unreachable(let why): self.init(.unreachable, "Apple cannot be reached: \(why)", mayHaveActed: false)
        case .answerLost(let why): self.init(.answerLost, "no answer came back: \(why)", mayHaveActed: changes)
        case .serverUntrusted(let found): self.init(.serverUntrusted, found.description, mayHaveActed: false)
        case .clientCertificateRefused(let why):
            self.init(
                .unauthorized,
                "the server refused the identity in TLS: \(why) (presented: \(identity.publicKeyHash), valid until \(identity.notAfter))",
                mayHaveActed: false)
        case .identityUnusable(let why): self.init(.identityUnusable, why, mayHaveActed: false)
        case .notHTTP(let why):
            self.init(.unexpectedAnswer, "the server does not speak HTTP: \(why)", mayHaveActed: changes)
        case .answerTooLarge(let limit):
            self.init(.unexpectedAnswer, "the answer has more than \(limit) bytes", mayHaveActed: changes)
        case .requestTooLarge(let limit):
            self.init(.refused, "the request has more than \(limit) bytes", mayHaveActed: false)
        case .timedOut(let seconds, true):
            self.init(.answerLost, "no answer within \(seconds) s", mayHaveActed: changes)
        case .timedOut(let seconds, false):
            self.init(.unreachable, "no connection within \(seconds) s", mayHaveActed: false)
        case .cancelled(let didSend):
            self.init(
                didSend ? .answerLost : .unreachable, "the call was given up before its answer",
                mayHaveActed: didSend && changes)
        }
    }
}
