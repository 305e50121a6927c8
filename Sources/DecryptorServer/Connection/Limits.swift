package import LocalSocket
package import NIOCore

/// The limits of the decryptor socket, each inclusive.
package struct Limits: Sendable {
    /// Connections that are open at the same time. Further ones get 503 with `Retry-After` and are closed. While many are
    /// being refused, further ones are closed without a response.
    package var connections = Shares.Limits(total: 1024, perUser: 896, withoutPermit: 32)
    /// How long a connection may be idle in both directions while none of its requests is in progress.
    package var idleTime = TimeAmount.seconds(60)
    /// How long a request may take to arrive, counted from the read that brought its first bytes; then 408.
    package var requestTime = TimeAmount.seconds(10)
    /// The size of a request's body; beyond it 413.
    package var bodyBytes = 64 * 1024
    /// Unanswered requests of one connection. At this number nothing more is read from it until some are answered; the
    /// requests of the last read, at most ``readBytes``, are still accepted.
    package var pipelinedRequests = 64
    /// Requests of one connection that are handled before other users take their turns.
    static let requestsPerTurn = 8
    /// Requests of all connections that wait for the store, an RSA key or the audit; then 503 with `Retry-After`.
    package var waitingRequests = 1024
    /// How long a shutdown waits until the outstanding responses are sent and read.
    package var drainTime = TimeAmount.seconds(10)
    /// How long a connection is still read after its last response, so that a reset does not destroy the response.
    package var lingerTime = TimeAmount.seconds(1)

    package init() {}

    /// The event loops' nice value, where the process may lower it.
    static let niceness: CInt = -10
    /// Bytes read from a connection at once: a request with a payment token. More would let the pipelined requests of one
    /// read, which are all decoded at once, delay other users for longer.
    static let readBytes = 8 * 1024
    /// Connections that the kernel holds until they are accepted; it caps this at net.core.somaxconn.
    static let backlog: CInt = 4096
}
