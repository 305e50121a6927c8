/// Why no answer came back, told by what can still be known of the request.
package enum TransportFailure: Error, Hashable, Sendable {
    /// Nothing of the request left.
    case unreachable(String)
    /// The request left, in part at least, and no whole answer came.
    case answerLost(String)
    /// The server's certificate was refused by us.
    case serverUntrusted(UntrustedServer)
    /// The server refused our certificate in TLS.
    case clientCertificateRefused(String)
    /// Our side of TLS could not be set up or could not sign.
    case identityUnusable(String)
    /// What came is not HTTP.
    case notHTTP(String)
    case answerTooLarge(limit: Int)
    case requestTooLarge(limit: Int)
    /// Time was up; whether the request had left.
    case timedOut(seconds: Int, didSend: Bool)
    /// The caller gave up; whether the request had left.
    case cancelled(didSend: Bool)
}

/// What is wrong with a server's certificate, and in words which certificate it is.
package struct UntrustedServer: Hashable, Sendable {
    package enum Fault: Hashable, Sendable {
        case expired, notYetValid, otherName, untrusted
    }

    package let fault: Fault
    package let detail: String

    package var description: String {
        switch fault {
        case .expired: "the server's certificate has ended: \(detail)"
        case .notYetValid: "the server's certificate is not valid yet: \(detail)"
        case .otherName: "the server's certificate is for another name: \(detail)"
        case .untrusted: "the server's certificate leads to no trusted root: \(detail)"
        }
    }
}
