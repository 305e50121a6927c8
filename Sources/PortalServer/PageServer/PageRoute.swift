import HTTPTypes

/// One route of the pages: its method and path, who may use it, and its handler.
struct PageRoute: Sendable {
    /// Who may use a route.
    enum Audience: Hashable, Sendable {
        /// Everybody, with or without a session.
        case everyone
        /// A person at a merchant, in a session that an invitation began.
        case merchant
        /// An operator, in a session that a login began.
        case operators
    }

    typealias Handler = @Sendable (PageHandlers) -> (PageCall) async throws -> PageReply

    let method: HTTPRequest.Method
    /// The path's template, with at most one parameter, such as `/fleet/merchants/{merchantIdentifier}`.
    let path: String
    let audience: Audience
    /// The names of the query parameters. Other parameters are ignored, because mail programs add some to links.
    let query: Set<String>
    /// The largest body, in bytes.
    let maximumBodyBytes: Int
    let handler: Handler

    /// The method and the path, for the metrics.
    var names: (method: String, path: String) { (method.rawValue, path) }

    static func get(
        _ path: String, _ audience: Audience, query: Set<String> = [], _ handler: @escaping Handler
    ) -> PageRoute {
        PageRoute(
            method: .get, path: path, audience: audience, query: query, maximumBodyBytes: 0, handler: handler)
    }

    static func post(
        _ path: String, _ audience: Audience, maximumBodyBytes: Int = FormLimits.fields, _ handler: @escaping Handler
    ) -> PageRoute {
        PageRoute(
            method: .post, path: path, audience: audience, query: [], maximumBodyBytes: maximumBodyBytes,
            handler: handler)
    }

    /// - Returns: the value of the path's parameter, still percent-encoded, or an empty text if the path has none; nil
    ///   if the path does not match.
    func match(_ path: Substring) -> Substring? {
        let template = self.path.split(separator: "/")
        let segments = path.split(separator: "/")
        guard template.count == segments.count else { return nil }
        var parameter: Substring = ""
        for (expected, found) in zip(template, segments) {
            if expected.hasPrefix("{") { parameter = found } else if expected != found { return nil }
        }
        return parameter
    }
}

/// Every route of the pages. Each group of routes is declared in the file of its handlers.
enum PageRoutes {
    static let all: [PageRoute] = entry + merchant + domains + operators
}
