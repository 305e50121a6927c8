/// An error as it travels: RFC 9457, `application/problem+json`, with a stable code and the request's number.
package struct Problem: Codable, Hashable, Sendable, Error {
    package static let mediaType = "application/problem+json"

    /// `urn:merchantkeyd:problem:` and the code.
    package let type: String
    package let title: String
    package let status: Int
    /// What was found and what was expected. Never a secret.
    package let detail: String
    package let code: String
    package let requestId: String

    package init(status: Int, code: String, title: String, detail: String, requestId: String) {
        type = "urn:merchantkeyd:problem:\(code)"
        self.title = title
        self.status = status
        self.detail = detail
        self.code = code
        self.requestId = requestId
    }
}
