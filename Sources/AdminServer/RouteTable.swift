package import HTTPTypes

/// Finds the route of a request: by the path as it was sent, so that an encoded slash never splits a part of it.
package struct RouteTable: Sendable {
    package enum Finding {
        /// The route, and the part of the path that stands for its parameter, still percent-encoded.
        case route(AdminRoute, parameter: Substring?)
        /// The path is known, the method is not: what `Allow` says.
        case otherMethods([String])
        case nothing
    }

    private struct Entry {
        let route: AdminRoute
        /// nil: the parameter.
        let parts: [Substring?]
    }

    private let entries: [Entry]

    package init(_ routes: [AdminRoute]) {
        entries = routes.map { route in
            Entry(route: route, parts: Self.parts(of: route.path).map { $0.hasPrefix("{") ? nil : $0 })
        }
    }

    package func find(_ method: HTTPRequest.Method, _ path: Substring) -> Finding {
        let parts = Self.parts(of: path)
        // RFC 9110, section 9.3.2: a HEAD is a GET whose answer has no content.
        let method = method == .head ? .get : method
        var allowed: [String] = []
        for entry in entries where Self.match(entry.parts, parts) {
            guard entry.route.method != method else {
                let parameter = entry.parts.firstIndex(of: nil).map { parts[$0] }
                return .route(entry.route, parameter: parameter)
            }
            allowed.append(entry.route.method.rawValue)
        }
        guard !allowed.isEmpty else { return .nothing }
        return .otherMethods(allowed + (allowed.contains("GET") ? ["HEAD"] : []))
    }

    private static func match(_ template: [Substring?], _ parts: [Substring]) -> Bool {
        template.count == parts.count && zip(template, parts).allSatisfy { $0 == nil || $0 == $1 }
    }

    private static func parts(of path: some StringProtocol) -> [Substring] {
        Substring(path).split(separator: "/", omittingEmptySubsequences: false)
    }
}
