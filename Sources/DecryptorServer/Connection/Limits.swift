package import LocalSocket
package import NIOCore

/// The bounds that every caller of the decryptor's socket keeps, each inclusive.
package struct Limits: Sendable {
    /// Connections open at the same time. Further ones get 503 with `Retry-After` and are closed; where many are being
    /// answered so, they are closed at once.
    package var connections = Shares.Limits(total: 1024, perUser: 896, withoutPermit: 32)
    /// How long a connection may be silent in both directions while nothing it asked for is under way.
    package var idleTime = TimeAmount.seconds(60)
    /// How long a request may take to arrive, counted from the read that brought its first bytes; then 408.
    package var requestTime = TimeAmount.seconds(10)
    /// A request's body; then 413.
    package var bodyBytes = 64 * 1024
    /// Unanswered requests of one connection past which nothing more is read from it until some are answered. What the
    /// read before had brought is still taken: at most ``readBytes``.
    package var pipelinedRequests = 64
    /// Requests of one connection that are handled at once; then, other users have their turns.
    static let requestsPerTurn = 8
    /// Requests of all connections that wait for the store, an RSA key or the audit; then 503 with `Retry-After`.
    package var waitingRequests = 1024
    /// How long a drain waits for what was asked to be answered and taken.
    package var drainTime = TimeAmount.seconds(10)
    /// How long a connection whose last answer was written is read on, so that the answer is not lost to a reset.
    package var lingerTime = TimeAmount.seconds(1)

    package init() {}

    /// The event loops' nice value, where the process may lower it.
    static let niceness: CInt = -10
    /// Bytes taken from a connection at once.
    static let readBytes = 16 * 1024
    /// Connections that the kernel holds until they are accepted; it caps this at net.core.somaxconn.
    static let backlog: CInt = 4096
}
