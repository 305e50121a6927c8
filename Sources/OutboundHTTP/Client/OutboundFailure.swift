/// Why a request got no usable response. The value of type `String` in a case is the reason, for messages.
///
/// Each case says whether a part of the request was sent. If so, the server may have acted on the request, unless the
/// case says otherwise.
package enum OutboundFailure: Error, Hashable, Sendable {
    /// No part of the request was sent.
    case unreachable(Unreachable)
    /// At least a part of the request was sent, but no complete response was received.
    case responseLost(String)
    /// The client refused the server's certificate. No part of the request was sent.
    case serverUntrusted(UntrustedServer)
    /// The server refused the client's certificate with a TLS alert, and did not act on the request.
    case clientCertificateRefused(String)
    /// The client's identity cannot be used in TLS, or cannot sign. No part of the request was sent.
    case identityUnusable(String)
    /// The server sent something that is not HTTP. A part of the request may have been sent.
    case notHTTP(String)
    /// The body of the response has more bytes than the limit. At least a part of the request was sent.
    case responseTooLarge(limit: Int)
    /// The body of the request has more bytes than the limit. No part of the request was sent.
    case requestTooLarge(limit: Int)
    /// `isSent`: whether a part of the request was sent, so that the server may have acted on it.
    case timedOut(after: Duration, isSent: Bool)
    /// `isSent`: as for ``timedOut(after:isSent:)``.
    case cancelled(isSent: Bool)

    /// Why no connection could be used.
    package enum Unreachable: Hashable, Sendable, CustomStringConvertible {
        case connectionRefused(port: Int?)
        case connectTimeout
        case tlsHandshakeTimeout
        /// The reason code of BoringSSL, such as `WRONG_VERSION_NUMBER`.
        case tlsFailed(String)
        case other(String)

        package var description: String {
            switch self {
            case .connectionRefused(let port): "connection refused\(port.map { " (port \($0))" } ?? "")"
            case .connectTimeout: "no connection in time"
            case .tlsHandshakeTimeout: "the TLS handshake did not finish in time"
            case .tlsFailed(let reason): "TLS failed: \(reason)"
            case .other(let reason): reason
            }
        }
    }
}
