/// The answer to a request that failed, if the failure belongs to no form of a page.
package struct ErrorPage: HTMLPage {
    package enum Kind: String, Sendable, CaseIterable {
        case badRequest
        /// The CSRF token or the origin of a form is not valid.
        case formExpired
        case forbidden, notFound, methodNotAllowed, tooLarge, tooManyRequests, failed, unavailable
        /// A request without TLS.
        case plainHTTP
    }

    private let kind: Kind
    private let requestId: String?
    private let retryAfter: Int?

    package let area = PageArea.entry
    package let template = PageTemplate.message
    package let isProblem = true

    /// - Parameter retryAfter: in seconds.
    package init(_ kind: Kind, requestId: String?, retryAfter: Int? = nil) {
        self.kind = kind
        self.requestId = requestId
        self.retryAfter = retryAfter
    }

    /// - Parameter status: the HTTP status of the error, from `ProblemTable`.
    package init(status: Int, requestId: String?, retryAfter: Int? = nil) {
        let kind: Kind =
            switch status {
            case 403: .forbidden
            case 404, 410: .notFound
            case 405: .methodNotAllowed
            case 413: .tooLarge
            case 429: .tooManyRequests
            case 400..<500: .badRequest
            case 503, 504: .unavailable
            default: .failed
            }
        self.init(kind, requestId: requestId, retryAfter: retryAfter)
    }

    package var status: Int {
        switch kind {
        case .badRequest, .plainHTTP: 400
        case .formExpired, .forbidden: 403
        case .notFound: 404
        case .methodNotAllowed: 405
        case .tooLarge: 413
        case .tooManyRequests: 429
        case .failed: 500
        case .unavailable: 503
        }
    }

    package func title(_ text: PageText) -> String { text.named(.error, "\(kind.rawValue).title") }

    package func content(_ text: PageText) -> Any {
        var content = MessageContent(title(text))
        content.paragraphs = ["body", "action"].map { text.named(.error, "\(kind.rawValue).\($0)") }
        if let retryAfter { content.paragraphs.append(text.counted(.errorRetry, retryAfter)) }
        if kind != .plainHTTP { content.link = MessageContent.home(text) }
        content.requestId = requestId
        return content
    }
}
