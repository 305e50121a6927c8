import AsyncHTTPClient
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

extension OutboundFailure {
    /// Classifies an error of the HTTP client or of TLS.
    ///
    /// - Parameter isSent: whether bytes of the request were sent.
    init(_ error: any Error, isSent: Bool, timeout: Duration) {
        switch error {
        case let failure as OutboundFailure: self = failure
        case let error as TLSSigningError: self = .identityUnusable("the identity cannot sign: \(error.cause)")
        case let error as HTTPClientError: self.init(error, isSent: isSent, timeout: timeout)
        case HTTPParserError.invalidEOFState:
            self.init(.other("the connection ended in the middle of the response"), isSent: isSent)
        case is HTTPParserError: self = .notHTTP("the response is not HTTP/1.1")
        case let error as NIOSSLError: self.init(tls: error, isSent: isSent)
        case let error as BoringSSLError: self.init(tls: error, isSent: isSent)
        // Thrown if the names in the certificate do not match the host.
        case is NIOSSLExtraError:
            self = .serverUntrusted(UntrustedServer(reason: .otherName, detail: "its names do not match the host"))
        default: self.init(Unreachable(error), isSent: isSent)
        }
    }

    private init(_ error: HTTPClientError, isSent: Bool, timeout: Duration) {
        switch error {
        case .deadlineExceeded, .readTimeout, .writeTimeout: self = .timedOut(after: timeout, isSent: isSent)
        case .connectTimeout, .getConnectionFromPoolTimeout: self = .unreachable(.connectTimeout)
        case .tlsHandshakeTimeout: self = .unreachable(.tlsHandshakeTimeout)
        case .remoteConnectionClosed, .uncleanShutdown:
            self.init(.other("the connection ended before the response"), isSent: isSent)
        case .cancelled: self = .cancelled(isSent: isSent)
        case .alreadyShutdown: self = .unreachable(.other("the HTTP client was shut down"))
        default: self.init(.other(error.description), isSent: isSent)
        }
    }

    /// If bytes of the request were sent, the server may have acted on it, so the response counts as lost.
    private init(_ reason: Unreachable, isSent: Bool) {
        self = isSent ? .responseLost(reason.description) : .unreachable(reason)
    }

    private init(tls error: any Error, isSent: Bool) {
        let text = "\(error)"
        if text.contains("CERTIFICATE_VERIFY_FAILED") {
            // TLS does not report the reason. OutboundClient.explained finds it with a ServerCertificateProbe.
            self = .serverUntrusted(UntrustedServer(reason: .untrusted, detail: "verification failed"))
        } else if let alert = Self.certificateAlerts.first(where: { text.contains($0.name) }) {
            self = .clientCertificateRefused(alert.meaning)
        } else if text.contains("PRIVATE_KEY_OPERATION_FAILED") || text.contains("KEY_VALUES_MISMATCH") {
            self = .identityUnusable("the identity's private key does not sign")
        } else if error as? NIOSSLError == .uncleanShutdown || text.contains("EOF during handshake") {
            self.init(.other("the connection ended during TLS"), isSent: isSent)
        } else {
            self.init(.tlsFailed(Self.reason(in: text)), isSent: isSent)
        }
    }

    /// TLS alerts by which a server refuses a client's certificate. Source: RFC 8446 section 6.2.
    private static let certificateAlerts: [(name: String, meaning: String)] = [
        ("CERTIFICATE_REQUIRED", "the server requires a client certificate and received none"),
        ("ALERT_CERTIFICATE_EXPIRED", "the server reports that the client certificate has expired"),
        ("ALERT_CERTIFICATE_REVOKED", "the server reports that the client certificate is revoked"),
        ("ALERT_UNKNOWN_CA", "the server does not know the CA of the client certificate"),
        (
            "ALERT_BAD_CERTIFICATE",
            "the server reports that the client certificate is malformed or has an invalid signature"
        ),
        ("ALERT_UNSUPPORTED_CERTIFICATE", "the server does not support the client certificate"),
        ("ALERT_CERTIFICATE_UNKNOWN", "the server does not accept the client certificate"),
        ("ALERT_NO_CERTIFICATE", "the server requires a client certificate and received none"),
        ("ALERT_ACCESS_DENIED", "the server denies access with this client certificate"),
        ("ALERT_DECRYPT_ERROR", "the server reports a wrong signature by the client certificate's key"),
        ("ALERT_HANDSHAKE_FAILURE", "the server refused the handshake, most often because of the client certificate"),
    ]

    /// The reason code in BoringSSL's error text, such as `WRONG_VERSION_NUMBER`.
    private static func reason(in text: String) -> String {
        guard let end = text.firstRange(of: " at ")?.lowerBound ?? text.firstIndex(of: ")") else {
            return String(text.prefix(200))
        }
        let head = text[..<end]
        return String((head.lastIndex(of: ":").map { head[head.index(after: $0)...] } ?? head).suffix(200))
    }
}

extension OutboundFailure.Unreachable {
    /// Uses the operating system's error message where there is one, because the library's own texts are less clear.
    fileprivate init(_ error: any Error, port: Int? = nil) {
        switch error {
        case let error as IOError where error.errnoCode == ECONNREFUSED: self = .connectionRefused(port: port)
        case let error as IOError: self = .other(String(cString: strerror(error.errnoCode)) + Self.suffix(port))
        case let error as NIOConnectionError:
            if let dns = error.dnsAError ?? error.dnsAAAAError, error.connectionErrors.isEmpty {
                self = .other("the name '\(error.host)' does not resolve (\(Self(dns)))")
            } else if let first = error.connectionErrors.first {
                self.init(first.error, port: error.port)
            } else {
                self = .other("no address accepted a connection")
            }
        case let error as SocketAddressError.UnknownHost: self = .other(error.errorDescription)
        case is SocketAddressError: self = .other("the name does not resolve")
        case ChannelError.connectTimeout: self = .connectTimeout
        case is ChannelError: self = .other("the connection ended")
        default: self = .other(String("\(error)".prefix(200)))
        }
    }

    private static func suffix(_ port: Int?) -> String { port.map { " (port \($0))" } ?? "" }
}
