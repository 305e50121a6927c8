/// Why a JSON text was refused: what was found, where, and what was expected. Never quotes a value.
package struct JSONFault: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
