/// An error response: RFC 9457, `application/problem+json`, with a stable code and the request's identifier.
package struct Problem: Codable, Hashable, Sendable, Error {
    package static let mediaType = "application/problem+json"

    /// `urn:merchantkeyd:problem:` followed by the code.
    package let type: String
    package let title: String
    package let status: Int
    /// What failed, why, and what to do. Never contains a secret.
    package let detail: String
    package let code: String
    package let requestId: String
    /// Each fault of the request, if the error lists them; otherwise nil.
    package var findings: [InputFindingDocument]?

    package init(status: Int, code: String, title: String, detail: String, requestId: String) {
        type = "urn:merchantkeyd:problem:\(code)"
        (self.status, self.code, self.title) = (status, code, title)
        (self.detail, self.requestId) = (detail, requestId)
    }
}
