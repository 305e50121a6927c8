import HTTPKit
package import LocalSocket
import NIOCore

/// The limits of a REST server on a Unix socket.
package struct RESTSocketLimits: Sendable {
    /// The limits of open connections. Callers without a permit share a separate limit, so that their connections
    /// cannot exclude other callers.
    package var connections = UserQuotas.Limits(total: 256, perUser: 224, withoutPermit: 16)
    /// The limits of the memory, in bytes, for large request bodies and for large responses that clients have not read
    /// yet. Bodies and responses of up to 64 KiB are not counted.
    package var buffers = UserQuotas.Limits(total: 64 << 20, perUser: 48 << 20, withoutPermit: 2 << 20)
    /// The largest body of any route, in bytes.
    package var bodyBytes: Int

    /// How many connections the kernel queues until the server accepts them. If net.core.somaxconn is lower, the kernel
    /// uses that number.
    static let queuedConnections: CInt = 4096
    /// How long a refused client has to read its response before the connection is closed.
    static let lingerTime = TimeAmount.seconds(1)
    /// How long a shutdown waits for the requests that have arrived.
    static let drainTime = TimeAmount(ShutdownBudget.Step.otherServers.time)
    /// How many bytes one read takes from a connection. All pipelined requests of one read are decoded at once, and all
    /// but the first then wait in memory.
    static let readBytes = 8 * 1024
    /// How many bytes of requests ``EndOfInputHandler`` keeps in memory after the client has closed its side of the
    /// connection. If there are more, the handler closes the connection. The limit is higher than the default size of a
    /// socket's buffer, because the bytes can be a part of an import.
    static let keptBytes = 512 * 1024
    /// How many accepted connections may wait for a task that handles them.
    static let maximumUnhandled = 64

    package init(bodyBytes: Int) { self.bodyBytes = bodyBytes }
}
