package import StrictJSON

/// The body of a request, which the client encodes and the server decodes. The server refuses unknown fields and null.
///
/// Optional fields are variables that are nil at first, so that the initializers take only the required fields.
package protocol RequestBody: Codable, Sendable {
    /// - Throws: ``JSONFault``, naming the field that is missing, unknown, null or of another type.
    init(_ fields: JSONFields) throws(JSONFault)
}

extension RequestBody {
    package init(_ fields: JSONFields) throws(JSONFault) { self = try fields.decode() }
}
