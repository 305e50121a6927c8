/// Why a JSON text was refused: what was found, where, and what was expected. The parser and the decoder quote field
/// names, but no values, because these may be secret. Only the description that a type gives for its own invalid value
/// (`DecodingError.dataCorrupted`) may quote that value.
package struct JSONFault: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }

    /// - Parameter field: the name of the field that is null, with its path.
    static func null(_ field: String) -> JSONFault {
        JSONFault("'\(field)' is null; give a value, or leave the field out")
    }
}
