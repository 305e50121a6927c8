/// Why a socket could not be created or inherited, or why the process at its other end could not be identified.
package struct SocketFault: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
