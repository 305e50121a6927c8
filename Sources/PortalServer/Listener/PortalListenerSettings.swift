import HTTPKit
package import LocalSocket
package import NIOCore

/// The settings of the portal's listener.
package struct PortalListenerSettings: Sendable {
    package var listen: ListenAddress
    package var trustedProxies: TrustedProxies
    package var limits: PortalLimits

    package init(
        listen: ListenAddress, trustedProxies: TrustedProxies = TrustedProxies(), limits: PortalLimits = PortalLimits()
    ) {
        self.listen = listen
        self.trustedProxies = trustedProxies
        self.limits = limits
    }
}

/// The limits of the portal's listener. A value that equals its limit is permitted.
///
/// Each step of a connection is bounded in time: the TLS handshake, the wait for a request, its head, its body, and the
/// time in which the client reads the response.
package struct PortalLimits: Sendable {
    /// How many connections or streams may be open at the same time: in all, and from one address. See
    /// ``AddressBlock``.
    package struct Quota: Hashable, Sendable {
        package var total: Int
        /// Does not apply to trusted proxies, because many clients share the address of a proxy.
        package var perAddress: Int

        package init(total: Int, perAddress: Int) {
            self.total = total
            self.perAddress = perAddress
        }
    }

    /// A connection above a limit is closed before the TLS handshake.
    package var connections = Quota(total: 3072, perAddress: 256)
    /// The open HTTP/2 streams of all connections. A stream above a limit is refused with REFUSED_STREAM, so the client
    /// may repeat the request.
    package var streams = Quota(total: 1024, perAddress: 512)
    /// The open HTTP/2 streams of one connection.
    package var streamsPerConnection = 32
    /// How many streams a client may reset in ``resetWindow``. The connection of a client that exceeds this number is
    /// closed, because the client makes the server prepare responses that nobody reads (CVE-2023-44487). The limit is
    /// higher than the number of requests that an address may send in this time, because libcurl 7.88 (Debian 12)
    /// resets each stream after its response.
    package var streamResets = 1000
    /// How many PING, SETTINGS and PRIORITY frames a client may send in ``resetWindow``.
    package var controlFrames = 100
    /// The period in which ``streamResets`` and ``controlFrames`` are counted.
    package var resetWindow = TimeAmount.seconds(30)
    /// After this number of requests that violate a rule of HTTP, an HTTP/2 connection is closed. A connection of
    /// HTTP/1.1 is closed after the first such request.
    package var refusedRequests = 10
    /// The total size of the header fields of an HTTP/2 request, in bytes. The same as for HTTP/1.1.
    package var headerListBytes = 16 * 1024
    /// The largest body of any route, in bytes.
    package var bodyBytes = 1024 * 1024

    /// The limit for the time from accepting the connection to the end of the TLS handshake.
    package var handshakeTime = TimeAmount.seconds(10)
    /// How long a connection may wait for its first or next request.
    package var idleTime = TimeAmount.seconds(60)
    /// The limit for the time from the first bytes of a request to the end of its head, and for the time from there to
    /// the end of the request.
    package var requestTime = TimeAmount.seconds(10)
    /// How long a client may take to read a response.
    package var responseTime = TimeAmount.seconds(20)
    /// For how long the server reads and discards what a client sends after the last response. If the server closed the
    /// connection while bytes are unread, the kernel would reset it and the client could lose the response.
    package var lingerTime = TimeAmount.seconds(1)
    /// How long an idle connection waits for a further request after a shutdown has begun.
    package var idleGrace = DrainEvent.idleGrace
    /// How long a closed connection waits for the client's close_notify.
    static let closeTime = TimeAmount.seconds(2)
    /// How long a shutdown waits for responses in progress. Connections that are still open after this time take up to
    /// ``closeTime`` to close.
    package var drainTime = TimeAmount(ShutdownBudget.Step.otherServers.time) - PortalLimits.closeTime

    /// The memory, in bytes, for large request bodies and large responses. Small bodies and responses are not counted.
    package var buffers = UserQuotas.Limits(total: 32 << 20, perUser: 8 << 20, withoutPermit: 8 << 20)

    package init() {}

    /// The threads of the listener. They accept connections, encrypt, and run the requests' tasks.
    static let threads = 2
    /// The nice value of these threads (setpriority(2)). It is higher than the value of the daemon's other threads, so
    /// that a flood of requests to the portal leaves the processor to the decryptors. The value is not the highest one:
    /// a thread that hardly runs would hold its locks for too long.
    static let niceness: CInt = 5
    /// How many bytes one read takes from a connection. Less than a TLS record, because each connection keeps its
    /// buffer while it is idle.
    static let readBytes = 4 * 1024
    /// How many connections the kernel queues until the server accepts them. If net.core.somaxconn is lower, the kernel
    /// uses that number.
    static let backlog: CInt = 1024

    /// The limits for ``RequestGuard``, which also apply to HTTP/2 streams.
    var request: RequestGuard.Limits {
        var limits = RequestGuard.Limits(bodyBytes: bodyBytes)
        limits.headTime = requestTime
        limits.requestTime = requestTime
        limits.responseTime = responseTime
        limits.lingerTime = lingerTime
        limits.idleGrace = idleGrace
        return limits
    }
}
