package import NIOCore

/// The event that a server sends to its open connections when it shuts down. Each connection answers the requests that
/// it has received, announces its end with `Connection: close`, and closes.
package struct DrainEvent: Sendable {
    /// How long an idle connection still waits for a request after this event. A client that keeps sending requests
    /// sends the next one within this time, and the response announces that the connection closes. So no request of
    /// such a client fails.
    package static let idleGrace = TimeAmount.milliseconds(200)

    package init() {}
}
