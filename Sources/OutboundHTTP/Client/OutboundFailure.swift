/// Why a request got no usable response. Each case shows whether the server may have received the request.
package enum OutboundFailure: Error, Hashable, Sendable {
    /// No part of the request was sent.
    case unreachable(Unreachable)
    /// At least a part of the request was sent, but no complete response was received.
    case responseLost(String)
    /// The client refused the server's certificate. No part of the request was sent.
    case serverUntrusted(UntrustedServer)
    /// The server refused the client's certificate with a TLS alert.
    case clientCertificateRefused(String)
    /// The client's identity cannot be used in TLS, or cannot sign.
    case identityUnusable(String)
    /// The server sent something that is not HTTP.
    case notHTTP(String)
    /// The limit is in bytes.
    case responseTooLarge(limit: Int)
    /// The limit is in bytes. No part of the request was sent.
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
