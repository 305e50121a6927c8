import AsyncHTTPClient
import FoundationEssentials
import Glibc
import MerchantCore
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

extension TransportFailure {
    /// Puts what the HTTP client and TLS report into our words.
    ///
    /// - Parameter didSend: whether bytes of the request had left.
    init(_ error: any Error, didSend: Bool, seconds: Int) {
        switch error {
        case let failure as TransportFailure: self = failure
        case let error as HTTPClientError: self.init(error, didSend: didSend, seconds: seconds)
        case HTTPParserError.invalidEOFState:
            self.init(lost: "the connection ended in the middle of the answer", didSend: didSend)
        case is HTTPParserError: self = .notHTTP("its answer cannot be read as HTTP/1.1")
        // What signing failed with comes through TLS as it is.
        case is IdentityError, is MerchantError: self = .identityUnusable("the identity cannot sign: \(error)")
        case let error as NIOSSLError: self.init(tls: error, didSend: didSend)
        case let error as BoringSSLError: self.init(tls: error, didSend: didSend)
        case is NIOSSLExtraError:
            self = .serverUntrusted(UntrustedServer(fault: .otherName, detail: "its names do not match"))
        default: self.init(lost: Self.words(error), didSend: didSend)
        }
    }

    private init(_ error: HTTPClientError, didSend: Bool, seconds: Int) {
        switch error {
        case .deadlineExceeded, .readTimeout, .writeTimeout: self = .timedOut(seconds: seconds, didSend: didSend)
        case .connectTimeout, .getConnectionFromPoolTimeout:
            self = .unreachable("no connection in time")
        case .tlsHandshakeTimeout: self = .unreachable("the TLS handshake did not end in time")
        case .remoteConnectionClosed, .uncleanShutdown:
            self.init(lost: "the connection ended before the answer", didSend: didSend)
        case .cancelled: self = .cancelled(didSend: didSend)
        case .alreadyShutdown: self = .unreachable("the gateway was shut down")
        default: self.init(lost: error.description, didSend: didSend)
        }
    }

    private init(lost why: String, didSend: Bool) {
        self = didSend ? .answerLost(why) : .unreachable(why)
    }

    private init(tls error: any Error, didSend: Bool) {
        let text = "\(error)"
        if text.contains("CERTIFICATE_VERIFY_FAILED") {
            // Which of the ways to be untrusted it is, a second look tells.
            self = .serverUntrusted(UntrustedServer(fault: .untrusted, detail: "its certificate does not verify"))
        } else if let alert = Self.certificateAlerts.first(where: { text.contains($0.name) }) {
            self = .clientCertificateRefused(alert.meaning)
        } else if text.contains("PRIVATE_KEY_OPERATION_FAILED") || text.contains("KEY_VALUES_MISMATCH") {
            self = .identityUnusable("the identity's private key does not sign")
        } else if error as? NIOSSLError == .uncleanShutdown || text.contains("EOF during handshake") {
            self.init(lost: "the connection ended during TLS", didSend: didSend)
        } else {
            self.init(lost: "TLS failed: \(Self.reason(in: text))", didSend: didSend)
        }
    }

    /// TLS alerts by which a server refuses a client's certificate. Source: RFC 8446 section 6.2.
    private static let certificateAlerts: [(name: String, meaning: String)] = [
        ("CERTIFICATE_REQUIRED", "it asks for a client certificate and got none"),
        ("ALERT_CERTIFICATE_EXPIRED", "it says that the client certificate has expired"),
        ("ALERT_CERTIFICATE_REVOKED", "it says that the client certificate is revoked"),
        ("ALERT_UNKNOWN_CA", "it does not know the CA of the client certificate"),
        ("ALERT_BAD_CERTIFICATE", "it calls the client certificate bad"),
        ("ALERT_UNSUPPORTED_CERTIFICATE", "it does not support the client certificate"),
        ("ALERT_CERTIFICATE_UNKNOWN", "it does not accept the client certificate"),
        ("ALERT_NO_CERTIFICATE", "it asks for a client certificate and got none"),
        ("ALERT_ACCESS_DENIED", "it denies access to the client certificate"),
        ("ALERT_DECRYPT_ERROR", "it finds the signature of the client certificate's key wrong"),
        ("ALERT_HANDSHAKE_FAILURE", "it refused the handshake, which most often means the client certificate"),
    ]

    /// BoringSSL's own word, such as `WRONG_VERSION_NUMBER`.
    private static func reason(in text: String) -> Substring {
        guard let end = text.firstRange(of: " at ")?.lowerBound ?? text.firstIndex(of: ")") else {
            return text.prefix(200)
        }
        let head = text[..<end]
        return (head.lastIndex(of: ":").map { head[head.index(after: $0)...] } ?? head).suffix(200)
    }

    /// Of a failed connection, the system's words and not the library's.
    static func words(_ error: any Error) -> String {
        switch error {
        case let error as IOError: String(cString: strerror(error.errnoCode))
        case let error as NIOConnectionError:
            if let dns = error.dnsAError ?? error.dnsAAAAError, error.connectionErrors.isEmpty {
                "the name '\(error.host)' does not resolve (\(words(dns)))"
            } else {
                error.connectionErrors.first.map { "\(words($0.error)) (port \(error.port))" } ?? "no address answered"
            }
        case let error as SocketAddressError.UnknownHost: error.errorDescription
        case is SocketAddressError: "the name does not resolve"
        case ChannelError.connectTimeout: "no connection in time"
        case is ChannelError: "the connection ended"
        default: String("\(error)".prefix(200))
        }
    }
}
