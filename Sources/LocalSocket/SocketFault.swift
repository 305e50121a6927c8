/// The reason why a socket could not be created or inspected.
package struct SocketFault: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
