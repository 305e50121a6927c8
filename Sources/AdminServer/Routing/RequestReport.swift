import HTTPKit
import HTTPTypes
import Hummingbird
import Logging
import MerchantCore
import NIOCore
import NIOHTTP1
import ServerKit
import Vocabulary

/// Turns errors into problem documents, counts every request, and logs what was done or refused.
struct RequestReport: RouterMiddleware {
    /// Routes by method and path, with their indices in the list that `recorder` was made with.
    private static let routes = Dictionary(
        uniqueKeysWithValues: AdminRoute.all.enumerated().map { index, route in
            ("\(route.method.rawValue) \(route.path)", (index: index, route: route))
        })

    private let problems: ProblemReporter
    private let recorder: RequestMetrics.Recorder

    init(problems: ProblemReporter, requests: RequestMetrics) {
        self.problems = problems
        recorder = requests.makeRecorder(
            server: "admin", routes: AdminRoute.all.map { ($0.method.rawValue, $0.path) })
    }

    func handle(
        _ request: Request, context: AdminRequestContext, next: (Request, AdminRequestContext) async throws -> Response
    ) async throws -> Response {
        let start = NIODeadline.now()
        let response: Response
        do {
            response = try await next(request, context)
        } catch let error as BrokenConnection {
            throw error.cause
        } catch {
            response = problem(error, matched(request, context)?.route, context)
        }
        recorder.record(
            matched(request, context)?.index, status: response.status.code, duration: .now() - start)
        return response
    }

    /// Calls the route's handler and logs what it did.
    func call(_ route: AdminRoute, _ context: AdminRequestContext) async throws -> Response {
        guard let handler = context.handler, let query = context.query else {
            throw MerchantError(.internalError, "the route \(route.path) was called without its permit check")
        }
        let call = AdminCall(
            peer: context.peer, requestId: context.requestId, headers: context.headers, query: query,
            body: context.body)
        let response = try await handler(call)
        // A change that was made is answered in any case. Only lists are large.
        if route.method == .get, !response.isShared { try context.reserve(response.body.readableBytes) }
        log(response, route, context)
        return Response(
            status: response.status, headers: response.headers, body: ResponseBody(byteBuffer: response.body))
    }

    /// The response to a request that violates HTTP's rules, which no router sees.
    func refusal(_ fault: HTTPFault, _ connection: AdminConnection) -> RequestGuard.Refusal {
        let problem = problems.response(
            to: fault, requestId: RequestId.make(), uid: connection.peer.caller.uid,
            metadata: Self.metadata(connection.peer.caller))
        recorder.record(nil, status: problem.status, duration: .zero)
        return RequestGuard.Refusal(
            status: HTTPResponseStatus(statusCode: problem.status),
            headers: HTTPHeaders(problem.fields.map { ($0.name, $0.value) } + [("Cache-Control", "no-store")]),
            body: problem.body)
    }

    private func matched(
        _ request: Request, _ context: AdminRequestContext
    ) -> (index: Int, route: AdminRoute)? {
        guard let path = context.endpointPath else { return nil }
        let method: HTTPRequest.Method = request.method == .head ? .get : request.method
        return Self.routes["\(method.rawValue) \(path)"]
    }

    private func problem(_ error: any Error, _ route: AdminRoute?, _ context: AdminRequestContext) -> Response {
        let caller = context.peer.caller
        let problem = problems.response(
            to: error, requestId: context.requestId, uid: caller.uid,
            metadata: Self.metadata(caller).merging(
                route.map { ["route": "\($0.method.rawValue) \($0.path)"] } ?? [:]
            ) { old, _ in old })
        var headers = HTTPFields()
        for (name, value) in problem.fields { HTTPField.Name(name).map { headers[$0] = value } }
        return Response(
            status: .init(code: problem.status), headers: headers, body: ResponseBody(byteBuffer: problem.body))
    }

    private func log(_ response: AdminResponse, _ route: AdminRoute, _ context: AdminRequestContext) {
        let isAction = route.action != nil && !response.isDryRun
        let level: Logger.Level = isAction ? .info : .debug
        guard level >= problems.log.logger.logLevel else { return }
        var metadata = Self.metadata(context.peer.caller)
        metadata["requestId"] = "\(context.requestId)"
        if let merchant = response.merchant { metadata["merchantIdentifier"] = "\(merchant)" }
        if let key = response.key { metadata["publicKeyHash"] = "\(key)" }
        if !isAction { metadata["route"] = "\(route.method.rawValue) \(route.path)" }
        problems.log.logger.log(
            level: level, "\(isAction ? route.action ?? "" : "request answered")", metadata: metadata)
    }

    private static func metadata(_ caller: Caller) -> Logger.Metadata {
        ["uid": "\(caller.uid)", "pid": "\(caller.pid)", "program": "\(caller.program)"]
    }
}

/// Header fields that every response has.
struct CommonHeaders: RouterMiddleware {
    func handle(
        _ request: Request, context: AdminRequestContext, next: (Request, AdminRequestContext) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        response.headers[.requestId] = context.requestId
        response.headers[.cacheControl] = "no-store"
        // A caller without a permit gets one refusal for each connection: requests that follow it cost no work.
        if context.peer.grants.allowNothing, response.status.code >= 400 { response.headers[.connection] = "close" }
        return request.method == .head ? response.createHeadResponse() : response
    }
}
