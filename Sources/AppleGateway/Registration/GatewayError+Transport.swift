import MerchantCore
import Vocabulary

extension ClientIdentity {
    /// Which certificate it is, for messages.
    var words: String { "presented: \(publicKeyHash), valid until \(notAfter)" }
}

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

    /// - Parameter url: where Apple was looked for.
    init(_ failure: TransportFailure, of operation: GatewayOperation, at url: String, with identity: ClientIdentity) {
        let changes = operation.changes
        switch failure {
        case .unreachable(let why):
            self.init(.unreachable, "Apple cannot be reached at \(url): \(why)", mayHaveActed: false)
        case .answerLost(let why): self.init(.answerLost, "no answer came back: \(why)", mayHaveActed: changes)
        case .serverUntrusted(let found):
            let hint =
                found.fault == .untrusted
                ? ", expected one of the setting apple.gateway.trust-roots, or where that is not set of the system's"
                : ""
            self.init(.serverUntrusted, "\(found.description)\(hint) (\(url))", mayHaveActed: false)
        case .clientCertificateRefused(let why):
            self.init(
                .unauthorized,
                "the server refused the identity in TLS: \(why) (\(identity.words))",
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
        // Where the request was about to leave in that moment, the word of its leaving comes too late: the loop that keeps
        // its time is not the one that sends.
        case .timedOut(let seconds, false):
            self.init(.unreachable, "no connection within \(seconds) s", mayHaveActed: changes)
        case .cancelled(let didSend):
            self.init(
                didSend ? .answerLost : .unreachable, "the call was given up before its answer", mayHaveActed: changes)
        }
    }
}
