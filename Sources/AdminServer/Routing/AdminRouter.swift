import HTTPKit
import Hummingbird
import Logging
import MerchantCore

/// Builds Hummingbird's router from ``AdminRoute/all``, and adds the middleware for every request.
///
/// The router matches paths before they are percent-decoded, so that an encoded slash does not split a segment.
struct AdminRouter: Sendable {
    let handlers: AdminHandlers
    let reporter: RequestReporter
    let logger: Logger

    func buildResponder() -> some HTTPResponder<AdminRequestContext> {
        let router = Router(context: AdminRequestContext.self, options: .autoGenerateHeadEndpoints)
        let readLimits = ReadLimits()
        for (index, route) in AdminRoute.all.enumerated() {
            let responder = RouteResponder(route: route, handlers: handlers, readLimits: readLimits, logger: logger)
            for path in Self.paths(of: route) {
                router.group()
                    .add(middleware: CommonHeadersMiddleware())
                    .add(middleware: RequestReportMiddleware(reporter: reporter, route: (index, route)))
                    .on(RouterPath(path), method: route.method, responder: responder)
            }
        }
        // Middleware that is added after the routes runs only for requests that match no route.
        router.add(middleware: CommonHeadersMiddleware())
        router.add(middleware: RequestReportMiddleware(reporter: reporter, route: nil))
        router.add(middleware: NoRouteMiddleware())
        return router.buildResponder()
    }

    /// The paths at which the route must be added to Hummingbird's router: the route's template, and the paths of other
    /// routes that the template also matches.
    ///
    /// Hummingbird's router prefers a literal segment to a parameter and ignores the method in this choice. If each route
    /// was added only at its template, `POST /v1/registrations/sync` would hide
    /// `GET /v1/registrations/{partnerInternalMerchantIdentifier}` for the identifier `sync`.
    private static func paths(of route: AdminRoute) -> Set<String> {
        let matchedPaths = AdminRoute.all.map(\.path).filter { $0 != route.path && route.matches($0) }
        let pathsWithSameMethod = Set(AdminRoute.all.filter { $0.method == route.method }.map(\.path))
        return Set(matchedPaths).subtracting(pathsWithSameMethod).union([route.path])
    }
}

/// Responds to a request that matches no route: with 405 if the path has a route with another method, otherwise with
/// 404.
struct NoRouteMiddleware: RouterMiddleware {
    static let notFound = MerchantError(.notFound, "there is nothing at this path; check its spelling")

    func handle(
        _ request: Request, context: AdminRequestContext, next: (Request, AdminRequestContext) async throws -> Response
    ) async throws -> Response {
        let target = RequestTarget(request.head.path ?? "")
        let methods = AdminRoute.all.filter { $0.matches(target.path) }.map(\.method.rawValue)
        guard target.hasNoEmptySegments, !methods.isEmpty else { throw Self.notFound }
        // The router adds HEAD to every route with GET.
        throw HTTPFault.methodNotAllowed(
            allow: (methods + (methods.contains("GET") ? ["HEAD"] : [])).joined(separator: ", "))
    }
}

extension AdminRoute {
    /// Whether the route's template matches a path. The method is not compared.
    package func matches(_ path: some StringProtocol) -> Bool {
        let (template, segments) = (RouterPath(self.path), path.split(separator: "/"))
        return template.count == segments.count && zip(template, segments).allSatisfy { $0 ~= $1 }
    }
}
