import HTTPKit
import HTTPTypes
import Hummingbird
import Logging
import MerchantCore
import NIOCore
import NIOHTTP1
import ServerKit

/// Converts errors to responses with problem documents, and counts the requests to the admin server in the metrics.
struct RequestReporter: Sendable {
    private let problems: ProblemReporter
    private let recorder: RequestMetrics.Recorder

    init(problems: ProblemReporter, requests: RequestMetrics) {
        self.problems = problems
        recorder = requests.makeRecorder(
            server: "admin", routes: AdminRoute.all.map { ($0.method.rawValue, $0.path) })
    }

    /// - Parameter route: the index in ``AdminRoute/all``; nil if the request matched no route.
    func record(_ route: Int?, _ response: Response, since start: NIODeadline) {
        recorder.record(route, status: response.status.code, duration: .now() - start)
    }

    /// The response to a request that failed.
    func problem(_ error: any Error, _ route: AdminRoute?, _ context: AdminRequestContext) -> Response {
        let caller = context.peer.caller
        let problem = problems.response(
            to: error, requestId: context.requestId, uid: caller.uid,
            metadata: caller.logMetadata.merging(
                route.map { ["route": "\($0.method.rawValue) \($0.path)"] } ?? [:]
            ) { old, _ in old })
        var headers = HTTPFields()
        for (name, value) in problem.fields { HTTPField.Name(name).map { headers[$0] = value } }
        return Response(
            status: .init(code: problem.status), headers: headers, body: ResponseBody(byteBuffer: problem.body))
    }

    /// The response to a request that violates a rule of HTTP. ``RequestGuard`` refuses such a request before the router
    /// receives it, so this function also counts the request.
    func refusal(_ fault: HTTPFault, _ connection: AdminConnection) -> RequestGuard.Refusal {
        let problem = problems.response(
            to: fault, requestId: RequestId.make(), uid: connection.peer.caller.uid,
            metadata: connection.peer.caller.logMetadata)
        recorder.record(nil, status: problem.status, duration: .zero)
        return RequestGuard.Refusal(
            status: HTTPResponseStatus(statusCode: problem.status),
            headers: HTTPHeaders(problem.fields.map { ($0.name, $0.value) } + [("Cache-Control", "no-store")]),
            body: problem.body)
    }
}

/// Counts the requests of one route, and responds with a problem document if a request fails.
struct RequestReportMiddleware: RouterMiddleware {
    let reporter: RequestReporter
    /// The route and its index in ``AdminRoute/all``; nil for requests that match no route.
    let route: (index: Int, route: AdminRoute)?

    func handle(
        _ request: Request, context: AdminRequestContext, next: (Request, AdminRequestContext) async throws -> Response
    ) async throws -> Response {
        let start = NIODeadline.now()
        let response: Response
        do {
            response = try await next(request, context)
        } catch let error as BrokenConnection {
            // A response cannot be sent. The error closes the connection.
            throw error.cause
        } catch {
            response = reporter.problem(error, route?.route, context)
        }
        reporter.record(route?.index, response, since: start)
        return response
    }
}

/// Adds the header fields of every response, and removes the content of a response to HEAD (RFC 9110, section 9.3.2).
struct CommonHeadersMiddleware: RouterMiddleware {
    func handle(
        _ request: Request, context: AdminRequestContext, next: (Request, AdminRequestContext) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        response.headers[.requestId] = context.requestId
        response.headers[.cacheControl] = "no-store"
        // After a refusal, the connection of a caller without any permit is closed, so that the caller's further
        // requests cause no work.
        if context.peer.grants.allowNothing, response.status.code >= 400 { response.headers[.connection] = "close" }
        return request.method == .head ? response.createHeadResponse() : response
    }
}
