/// The event that a server sends to its open connections when it shuts down. Each connection finishes the requests that
/// it is handling, and then closes.
package struct DrainEvent: Sendable {
    package init() {}
}
