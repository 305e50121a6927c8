import AsyncHTTPClient
import Glibc
import NIOCore
import NIOPosix
import NIOSSL

/// Why an event was not delivered: in words for status and log, without the webhook's address.
struct DeliveryFault: Error, CustomStringConvertible {
    let description: String
    /// How long the receiver wants to be left alone.
    let wait: Duration?

    init(_ description: String, wait: Duration? = nil) {
        self.description = description
        self.wait = wait
    }

    init(_ error: any Error) {
        switch error {
        case let fault as DeliveryFault: self = fault
        case let error as HTTPClientError:
            switch error {
            case .deadlineExceeded, .readTimeout, .writeTimeout: self.init("no answer in time")
            case .connectTimeout, .getConnectionFromPoolTimeout: self.init("no connection in time")
            case .remoteConnectionClosed: self.init("the connection ended before the answer")
            case .tlsHandshakeTimeout: self.init("no TLS handshake in time")
            default: self.init(error.shortDescription)
            }
        case let error as NIOConnectionError:
            self.init("no connection: \(error.connectionErrors.first.map { Self.words($0.error) } ?? "refused")")
        case let error as NIOSSLError: self.init("TLS failed: \(error)".short)
        case let error as NIOSSLExtraError: self.init("TLS failed: \(error)".short)
        case let error as BoringSSLError: self.init("TLS failed: \(error)".short)
        default: self.init(Self.words(error))
        }
    }

    private static func words(_ error: any Error) -> String {
        guard let error = error as? IOError else { return "\(type(of: error)): \(error)".short }
        return String(cString: strerror(error.errnoCode))
    }
}

extension String {
    /// Libraries' errors can be long.
    fileprivate var short: String { String(prefix(300)) }
}
