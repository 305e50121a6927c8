import HTTPKit
import Hummingbird
import HummingbirdRouter
import Logging
import MerchantCore
import MerchantOperations
import ServerKit

/// Builds Hummingbird's router from ``AdminRoute/all``, with the middleware that every request passes.
///
/// A request matches the first route in ``AdminRoute/all`` that has the request's method and path. The path is matched
/// before it is percent-decoded, so that an encoded slash does not split a segment.
struct AdminRouter: Sendable {
    let handlers: AdminHandlers
    let report: RequestReport
    let logger: Logger
    private let reads = ReadConcurrency(atOnce: 4)
    /// The limit for reads that wait for events, each for up to 30 s.
    private let waitingReads = ReadConcurrency(atOnce: 32)

    init(handlers: AdminHandlers, report: RequestReport, logger: Logger) {
        self.handlers = handlers
        self.report = report
        self.logger = logger
    }

    func buildResponder() -> some HTTPResponder<AdminRequestContext> {
        RouterBuilder(context: AdminRequestContext.self) {
            CommonHeaders()
            report
            PathCheck()
            // The router compares a request with one entry after the other, so the routes are in groups.
            for group in RoutesOfResource.all {
                RouteGroup(RouterPath(group.path)) {
                    for (path, route) in group.routes {
                        Route(route.method, RouterPath(path)) {
                            PermitCheck(route: route, handlers: handlers)
                            RequestInput(route: route)
                            ReadLimit(route: route, reads: reads, waitingReads: waitingReads)
                            Handle { [call = RouteCall(route: route, logger: logger)] _, context in
                                try await call.respond(context)
                            }
                        }
                    }
                }
            }
            NoRoute()
        }
    }
}

/// The routes whose paths begin with the same two segments, such as `/v1/keys`.
private struct RoutesOfResource {
    let path: String
    /// The routes in the order of ``AdminRoute/all``, each with the rest of its path.
    private(set) var routes: [(path: String, route: AdminRoute)] = []

    /// All routes, in groups.
    static let all: [Self] = AdminRoute.all.reduce(into: []) { groups, route in
        let segments = route.path.split(separator: "/")
        let path = "/" + segments.prefix(2).joined(separator: "/")
        let rest = segments.dropFirst(2).joined(separator: "/")
        if let index = groups.firstIndex(where: { $0.path == path }) {
            groups[index].routes.append((rest, route))
        } else {
            groups.append(Self(path: path, routes: [(rest, route)]))
        }
    }
}

/// Refuses paths with empty segments, which Hummingbird's router would ignore.
struct PathCheck: RouterMiddleware {
    func handle(
        _ request: Request, context: AdminRequestContext, next: (Request, AdminRequestContext) async throws -> Response
    ) async throws -> Response {
        guard RequestTarget(request.head.path ?? "").hasOnlyFullSegments else { throw NoRoute.notFound }
        return try await next(request, context)
    }
}

/// Checks the permit that the route declares, and adds the handler to the context.
struct PermitCheck: RouterMiddleware {
    let route: AdminRoute
    let handlers: AdminHandlers

    func handle(
        _ request: Request, context: AdminRequestContext, next: (Request, AdminRequestContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.handler = try await route.authorize(context.peer, context.parameters.first?.value, handlers)
        return try await next(request, context)
    }
}

/// Applies ``ReadConcurrency`` to every route with `GET`.
struct ReadLimit: RouterMiddleware {
    let route: AdminRoute
    let reads: ReadConcurrency
    let waitingReads: ReadConcurrency

    func handle(
        _ request: Request, context: AdminRequestContext, next: (Request, AdminRequestContext) async throws -> Response
    ) async throws -> Response {
        guard route.method == .get else { return try await next(request, context) }
        let limit = context.query?["wait"] == nil ? reads : waitingReads
        return try await limit.run(for: context.peer.holder) { try await next(request, context) }
    }
}

/// Responds to a request that matches no route: with 405 if the path has a route with another method, otherwise with
/// 404.
struct NoRoute: RouterMiddleware {
    static let notFound = MerchantError(.notFound, "there is nothing at this path")

    func handle(
        _ request: Request, context: AdminRequestContext, next: (Request, AdminRequestContext) async throws -> Response
    ) async throws -> Response {
        let path = RequestTarget(request.head.path ?? "").path
        let methods = AdminRoute.all.filter { $0.matches(path) }.map(\.method.rawValue)
        guard !methods.isEmpty else { throw Self.notFound }
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
