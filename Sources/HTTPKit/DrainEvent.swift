/// The event that a server sends to its open connections when it shuts down. A connection answers the requests that it
/// has received, and then closes.
package struct DrainEvent: Sendable {
    package init() {}
}
