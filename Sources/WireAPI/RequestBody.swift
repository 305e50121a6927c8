package import StrictJSON

/// The body of a request: the client encodes it, and the server decodes it strictly.
///
/// Fields are variables and optional ones are nil at first, so that an initializer takes only what every request has.
package protocol RequestBody: Codable, Sendable {
    /// - Throws: ``JSONFault``, naming the field that is missing, unknown, null or of another type.
    init(_ fields: JSONFields) throws(JSONFault)
}

extension RequestBody {
    package init(_ fields: JSONFields) throws(JSONFault) { self = try fields.decode() }
}
