/// Notifies a connection that its server shuts down: it answers what it has received and then ends.
package struct DrainEvent: Sendable {
    package init() {}
}
