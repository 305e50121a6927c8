/// Why a socket could not be made or asked about: what was found, and what was expected.
package struct SocketFault: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
