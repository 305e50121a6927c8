/// The page for a request that failed, unless the page with the form shows the failure.
package struct ErrorPage: HTMLPage {
    package enum Kind: String, Sendable, CaseIterable {
        case badRequest
        /// The CSRF token or the origin of a form is not valid.
        case formExpired
        case forbidden, notFound, methodNotAllowed, tooSlow, tooLarge, tooManyRequests, failed, unavailable
    }

    private let kind: Kind
    private let requestId: String?
    private let retryAfter: Int?
    private let longestBody: Int

    package let area = PageArea.entry
    package let template = PageTemplate.message
    package let isProblem = true

    /// - Parameters:
    ///   - retryAfter: in seconds.
    ///   - longestBody: the largest body that the server reads at this address, in bytes.
    package init(
        _ kind: Kind, requestId: String?, retryAfter: Int? = nil, longestBody: Int = FormLimits.fields
    ) {
        self.kind = kind
        self.requestId = requestId
        self.retryAfter = retryAfter
        self.longestBody = longestBody
    }

    /// - Parameter status: the HTTP status of the error, from `ProblemTable`.
    package init(
        status: Int, requestId: String?, retryAfter: Int? = nil, longestBody: Int = FormLimits.fields
    ) {
        let kind: Kind =
            switch status {
            case 403: .forbidden
            case 404, 410: .notFound
            case 405: .methodNotAllowed
            case 408: .tooSlow
            case 413: .tooLarge
            case 429: .tooManyRequests
            case 400..<500: .badRequest
            case 503, 504: .unavailable
            default: .failed
            }
        self.init(kind, requestId: requestId, retryAfter: retryAfter, longestBody: longestBody)
    }

    package var status: Int {
        switch kind {
        case .badRequest: 400
        case .formExpired, .forbidden: 403
        case .notFound: 404
        case .methodNotAllowed: 405
        case .tooSlow: 408
        case .tooLarge: 413
        case .tooManyRequests: 429
        case .failed: 500
        case .unavailable: 503
        }
    }

    package func title(_ text: PageText) -> String { text.named(.error, "\(kind.rawValue).title") }

    package func content(_ text: PageText) -> Any {
        var content = MessageContent(title(text))
        let values = ["limit": text.kilobytes(longestBody)]
        content.paragraphs = ["body", "action"].map { text.named(.error, "\(kind.rawValue).\($0)", values) }
        if let retryAfter { content.paragraphs.append(text.counted(.errorRetry, retryAfter)) }
        content.link = MessageContent.home(text)
        content.requestId = requestId
        return content
    }
}
