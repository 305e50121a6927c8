/// The error that a socket could not be created, or that its peer could not be identified.
package struct SocketFault: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
