package import LocalSocket
package import NIOCore

/// The limits of the decryptor socket, each inclusive.
package struct Limits: Sendable {
    /// How many connections may be open at the same time. A further connection gets 503 with `Retry-After` and is
    /// closed. If ``ConnectionAdmission/refusedAtOnce`` refused connections are still open, it is closed without a
    /// response.
    package var connections = Shares.Limits(total: 1024, perUser: 896, withoutPermit: 32)
    /// How long a connection may be idle in both directions while none of its requests is in progress.
    package var idleTime = TimeAmount.seconds(60)
    /// How long a request may take to arrive, counted from the read that brought its first bytes. A slower request gets
    /// 408.
    package var requestTime = TimeAmount.seconds(10)
    /// The largest body of a request, in bytes. A larger one gets 413.
    package var bodyBytes = 64 * 1024
    /// How many requests of one connection may be unanswered before the server stops reading from the connection. All
    /// requests of the last read are still accepted, so there may be more. The server reads again when fewer are
    /// unanswered.
    package var pipelinedRequests = 64
    /// How many requests of one connection are handled before other users get their turns.
    static let requestsPerTurn = 8
    /// How many requests of all connections may wait for the store, an RSA key or the audit. A further request gets 503
    /// with `Retry-After`.
    package var waitingRequests = 1024
    /// How long a shutdown waits until the outstanding responses are sent and read. Then it closes all connections.
    package var drainTime = TimeAmount.seconds(10)
    /// For how long the server reads and discards what a client sends after the last response. If the server closed the
    /// connection while bytes are unread, the kernel would reset it and the client could lose the response.
    package var lingerTime = TimeAmount.seconds(1)

    package init() {}

    /// The nice value of the event loops' threads, if the process may lower it.
    static let niceness: CInt = -10
    /// How many bytes one read takes from a connection: enough for a request with a payment token. The pipelined
    /// requests of one read are all decoded together, so a larger read would delay other users for longer.
    static let readBytes = 16 * 1024
    /// How many connections the kernel queues until the server accepts them. The kernel reduces this to
    /// net.core.somaxconn.
    static let backlog: CInt = 4096
}
