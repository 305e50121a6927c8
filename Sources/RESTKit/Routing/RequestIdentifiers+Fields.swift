package import HTTPKit
package import HTTPTypes

extension RequestIdentifiers {
    /// The identifiers in the header fields of a request; nil if there are none.
    package convenience init?(_ fields: HTTPFields) {
        self.init(requestIds: fields[values: .requestId], traceparents: fields[values: .traceparent])
    }
}

extension HTTPField.Name {
    // The initializer returns nil only for a name that is not a token of RFC 9110 section 5.6.2.
    // swift-format-ignore: NeverForceUnwrap
    package static let requestId = HTTPField.Name("X-Request-Id")!
}

extension HTTPFields {
    /// Adds the header fields of a response that identify the request.
    package mutating func setIdentifiers(of context: RESTContext) {
        self[.requestId] = context.requestId
        self[.traceparent] = context.trace?.traceparent
    }
}
