import HTTPKit
package import HTTPTypes
package import Hummingbird
package import Logging
package import MerchantCore
package import ServerKit

/// Builds Hummingbird's router from the routes of a server, and adds the middleware for every request.
///
/// The router matches paths before they are percent-decoded, so that an encoded slash does not split a segment.
package struct RESTRouter<Handlers: RESTHandlers>: Sendable {
    private let routes: [RESTRoute<Handlers>]
    private let socket: DaemonSocket?
    private let handlers: Handlers
    private let reporter: RequestReporter
    private let authenticate: RequestAuthentication?
    private let headers: HTTPFields
    private let readLimits: ReadLimits
    private let logger: Logger

    /// - Parameters:
    ///   - routes: all routes, in the same order as in `reporter`. In `reporter`, other routes may follow these routes.
    ///   - socket: the socket of the server; nil for the portal. If another socket serves the path of a request, the
    ///     error names that socket.
    ///   - authenticate: identifies the caller of each request; nil if the connection identifies the caller.
    ///   - headers: further header fields of every response.
    ///   - readLimits: the limits that these routes share with the server's other paths, such as the portal's pages.
    package init(
        routes: [RESTRoute<Handlers>], of socket: DaemonSocket? = nil, handlers: Handlers, reporter: RequestReporter,
        authenticate: RequestAuthentication? = nil, headers: HTTPFields = [:], readLimits: ReadLimits = ReadLimits(),
        logger: Logger
    ) {
        self.routes = routes
        self.socket = socket
        self.handlers = handlers
        self.reporter = reporter
        self.authenticate = authenticate
        self.headers = headers
        self.readLimits = readLimits
        self.logger = logger
    }

    package func buildResponder() -> some HTTPResponder<RESTContext> {
        let router = Router(context: RESTContext.self, options: .autoGenerateHeadEndpoints)
        let commonHeaders = CommonHeadersMiddleware(headers: headers, closesRefusedConnections: authenticate == nil)
        let patterns = Dictionary(
            routes.map { ($0.path, RoutePattern($0.path)) }, uniquingKeysWith: { first, _ in first })
        for (index, route) in routes.enumerated() {
            let report = RequestReportMiddleware(
                reporter: reporter,
                route: RequestReportMiddleware.Route(index: index, name: route.name, permit: route.permit),
                authenticate: authenticate)
            let responder = RouteResponder(route: route, handlers: handlers, readLimits: readLimits, logger: logger)
            for path in paths(of: route, patterns) {
                router.group()
                    .add(middleware: commonHeaders)
                    .add(middleware: report)
                    .on(RouterPath(path), method: route.method, responder: responder)
            }
        }
        // Middleware that is added after the routes runs only for requests that match no route.
        router.add(middleware: commonHeaders)
        router.add(middleware: RequestReportMiddleware(reporter: reporter, route: nil, authenticate: authenticate))
        router.add(middleware: NoRouteMiddleware(routes: routes, socket: socket))
        return router.buildResponder()
    }

    /// The paths at which the route must be added to Hummingbird's router: the route's template, and the paths of other
    /// routes that the template also matches.
    ///
    /// Hummingbird's router prefers a literal segment to a parameter and ignores the method in this choice. If each
    /// route were added only at its template, `POST /v1/registrations/sync` would hide
    /// `GET /v1/registrations/{partnerInternalMerchantIdentifier}` for the identifier `sync`.
    ///
    /// - Parameter patterns: the pattern of each route's template.
    private func paths(of route: RESTRoute<Handlers>, _ patterns: [String: RoutePattern]) -> Set<String> {
        guard let pattern = patterns[route.path] else { return [route.path] }
        let matchedPaths = patterns.filter { $0.key != route.path && pattern.matches($0.value.segments) }.keys
        let pathsWithSameMethod = Set(routes.filter { $0.method == route.method }.map(\.path))
        return Set(matchedPaths).subtracting(pathsWithSameMethod).union([route.path])
    }
}

/// A route's template, split into its segments once. A server has about a hundred routes, and its start compares each
/// template with all others.
private struct RoutePattern {
    private let template: RouterPath
    let segments: [Substring]

    init(_ path: String) { (template, segments) = (RouterPath(path), path.split(separator: "/")) }

    func matches(_ segments: [Substring]) -> Bool {
        template.count == segments.count && zip(template, segments).allSatisfy { $0 ~= $1 }
    }
}

/// Responds to a request that matches no route: with 405 if the path has a route with another method, otherwise with
/// 404. If another socket serves the path, the error names that socket.
struct NoRouteMiddleware<Handlers: RESTHandlers>: RouterMiddleware {
    let routes: [RESTRoute<Handlers>]
    let socket: DaemonSocket?

    func handle(
        _ request: Request, context: RESTContext, next: (Request, RESTContext) async throws -> Response
    ) async throws -> Response {
        let target = RequestTarget(request.head.path ?? "")
        let methods = routes.filter { $0.matches(target.path) }.map(\.method.rawValue)
        guard target.hasNoEmptySegments, !methods.isEmpty else {
            throw socket?.misdirected(target.path) ?? MerchantError.noRoute
        }
        // The router adds HEAD to every route with GET.
        throw HTTPFault.methodNotAllowed(
            allow: (methods + (methods.contains("GET") ? ["HEAD"] : [])).joined(separator: ", "))
    }
}

extension MerchantError {
    /// The error for a request whose path matches no route.
    package static let noRoute = MerchantError(.notFound, "no route matches this path; check its spelling")
}

extension RESTRoute {
    /// Whether the route's template matches a path. The method is not compared.
    package func matches(_ path: some StringProtocol) -> Bool {
        RoutePattern(self.path).matches(Substring(path).split(separator: "/"))
    }
}
