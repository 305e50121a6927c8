package import HTTPKit
package import Hummingbird
package import LocalSocket
package import Logging
package import MerchantCore
package import NIOCore
package import ServerKit
package import Vocabulary

/// The values that all requests of one connection share.
package struct RESTConnection: RequestContextSource, Sendable {
    /// The caller, as far as the connection itself identifies it, with the permits that the caller had when it
    /// connected. ``RESTContext/peer`` has the permits for a request.
    package let peer: Peer
    package let channel: any Channel
    /// The memory that is reserved for the current request and its response.
    package let reservedMemory: BufferBudget.Reservation
    /// The SHA-256 of the client's verified TLS certificate; nil if the client has none or the certificate has expired,
    /// and on a Unix socket.
    package let clientCertificateFingerprint: Bits256?
    package let logger: Logger

    package init(
        peer: Peer, channel: any Channel, reservedMemory: BufferBudget.Reservation,
        clientCertificateFingerprint: Bits256? = nil, logger: Logger
    ) {
        self.peer = peer
        self.channel = channel
        self.reservedMemory = reservedMemory
        self.clientCertificateFingerprint = clientCertificateFingerprint
        self.logger = logger
    }
}

/// The values of one request that Hummingbird passes to middleware and to the route.
package struct RESTContext: RequestContext {
    package typealias Source = RESTConnection

    package var coreContext: CoreRequestContextStorage
    package let connection: RESTConnection
    /// The client's `X-Request-Id` if it sent one, otherwise an identifier that the server generates.
    package let requestId: String
    /// The trace that the request belongs to; nil if the client sent no valid `traceparent`.
    package let trace: TraceContext?
    /// The caller of the request. At first the caller of the connection; a server that authenticates each request
    /// replaces this value.
    package var peer: Peer

    package init(source: RESTConnection) { self.init(source: source, identifiers: nil) }

    /// - Parameter identifiers: the identifiers in the request's header fields.
    package init(source: RESTConnection, identifiers: RequestIdentifiers?) {
        requestId = identifiers?.requestId ?? RequestId.make()
        trace = identifiers?.trace
        coreContext = CoreRequestContextStorage(source: source)
        connection = source
        peer = source.peer.withPresentPermits
    }

    /// Reserves memory for the body of a request or response. Does nothing for a body of up to 64 KiB: such bodies need
    /// little memory in total, because the number of connections is limited.
    ///
    /// - Throws: `overloaded` if the large requests and responses of all callers, or of this caller, already use as
    ///   much memory as is permitted.
    package func reserve(_ bytes: Int) throws(MerchantError) {
        guard bytes > BodyLimit.ordinary else { return }
        do throws(UserQuotas.Exhausted) { try connection.reservedMemory.reserve(bytes) } catch {
            throw MerchantError(
                .overloaded,
                error == .total
                    ? "large requests and responses use all the memory that is reserved for them; try again later"
                    : "your large requests and responses use all the memory that you may use; read the responses and retry"
            )
        }
    }
}
