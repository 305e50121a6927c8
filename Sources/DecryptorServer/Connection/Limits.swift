import HTTPKit
package import LocalSocket
package import NIOCore

/// The limits of the decryptor socket. A value that equals its limit is permitted.
package struct Limits: Sendable {
    /// How many connections may be open at the same time: in total, from each user, and from all users without a permit
    /// together. A connection above a limit gets 503 with `Retry-After`, and its client has ``lingerTime`` to read the
    /// response before the server closes the connection. While ``ConnectionAdmission/maximumOpenRefused`` of these
    /// refused connections are open, a further connection above a limit is closed without a response.
    package var connections = UserQuotas.Limits(total: 1024, perUser: 896, withoutPermit: 32)
    /// How long a connection may be idle in both directions while none of its requests is in progress.
    package var idleTime = TimeAmount.seconds(60)
    /// How long a request may take to arrive, counted from the read that brought its first bytes. A slower request gets
    /// 408. While the server itself has suspended reading, the time starts again.
    package var requestTime = TimeAmount.seconds(10)
    /// The largest body of a request, in bytes. A request with a larger body gets 413.
    package var bodyBytes = 64 * 1024
    /// How many requests of one connection may be unanswered before the server stops reading from the connection. All
    /// requests of the last read are still accepted, so the number can exceed this limit. The server reads again when
    /// the number of unanswered requests is below the limit.
    package var pipelinedRequests = 64
    /// How many bytes ``EndOfInputHandler`` keeps when the client closes its side of the connection: bytes that have
    /// arrived and that no handler has requested. If there are more, the connection is closed. The limit is higher than
    /// the default size of a socket's buffer.
    package var keptBytes = 256 * 1024
    /// How many requests of one connection are handled in one turn of its user. Then the next waiting user gets a turn,
    /// see ``FairScheduler``.
    static let requestsPerTurn = 8
    /// How many requests of all connections may wait or run outside the event loops (``OffLoopWork``). A further
    /// request gets 503 with `Retry-After`.
    package var waitingRequests = 1024
    /// How long a request may wait for a thread that may block (``BlockingPool``). A request that has waited for longer
    /// gets 503 with `Retry-After`.
    package var threadWait = TimeAmount.seconds(5)
    /// How long a shutdown waits at most until the requests that have arrived are answered and the clients have read
    /// the responses. Then the server closes all connections.
    package var drainTime = TimeAmount(ShutdownBudget.Step.decryptorServer.time)
    /// How long an idle connection waits for a further request after a shutdown has begun.
    package var idleGrace = DrainEvent.idleGrace
    /// For how long the server reads and discards what a client sends after the last response. If the server closed the
    /// connection while bytes are unread, the kernel would reset it and the client could lose the response.
    package var lingerTime = TimeAmount.seconds(1)

    package init() {}

    /// The nice value of the event loops' threads (setpriority(2)). If the process may not lower the nice value, the
    /// threads keep the process's value.
    static let niceness: CInt = -10
    /// How many bytes one read takes from a connection. The pipelined requests of one read are all decoded together, so
    /// a larger read would delay other users for longer. A request with a payment token takes one or two reads.
    static let readBytes = 4 * 1024
    /// How many connections the kernel queues until the server accepts them. If net.core.somaxconn is lower, the kernel
    /// uses that number.
    static let backlog: CInt = 4096
}
