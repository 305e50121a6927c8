import HTTPKit
import Hummingbird
import Logging
import MerchantCore
import ServerKit

/// Responds to the requests of one route: checks the caller's permit, reads the request, calls the handler, and writes
/// a log line.
struct RouteResponder: HTTPResponder {
    let route: AdminRoute
    let handlers: AdminHandlers
    let readLimits: ReadLimits
    let logger: Logger
    /// The index of the parameter among the path's segments; nil if the path has no parameter.
    private let parameterIndex: Int?

    init(route: AdminRoute, handlers: AdminHandlers, readLimits: ReadLimits, logger: Logger) {
        self.route = route
        self.handlers = handlers
        self.readLimits = readLimits
        self.logger = logger
        parameterIndex = route.path.split(separator: "/").firstIndex { $0.hasPrefix("{") }
    }

    func respond(to request: Request, context: AdminRequestContext) async throws -> Response {
        let target = RequestTarget(request.head.path ?? "")
        // Hummingbird ignores empty segments, so it would also match a path such as `//v1/keys`.
        guard target.hasNoEmptySegments else { throw NoRouteMiddleware.notFound }
        let parameter = parameterIndex.map { target.path.split(separator: "/")[$0] }
        let handler = try await route.authorize(context.peer, parameter, handlers)
        let call = try await RequestInput(route: route).read(request, target, context)
        let response =
            if route.method == .get { try await readLimits.run(call, handler) } else { try await handler(call) }
        // Only responses to GET can be large. For other methods no memory is reserved: a reservation may fail, but the
        // change was already made and its response must be sent.
        if route.method == .get, !response.isShared { try context.reserve(response.body.readableBytes) }
        log(response, context)
        return Response(
            status: response.status, headers: response.headers, body: ResponseBody(byteBuffer: response.body))
    }

    private func log(_ response: AdminResponse, _ context: AdminRequestContext) {
        let message = response.isDryRun ? nil : route.logMessage
        let level: Logger.Level = message == nil ? .debug : .info
        guard level >= logger.logLevel else { return }
        var metadata = context.peer.caller.logMetadata
        metadata["requestId"] = "\(context.requestId)"
        if let merchant = response.merchant { metadata["merchantIdentifier"] = "\(merchant)" }
        if let key = response.key { metadata["publicKeyHash"] = "\(key)" }
        if message == nil { metadata["route"] = "\(route.method.rawValue) \(route.path)" }
        logger.log(level: level, "\(message ?? "request answered")", metadata: metadata)
    }
}

extension Caller {
    /// The fields of a log line that identify the caller.
    var logMetadata: Logger.Metadata { ["uid": "\(uid)", "pid": "\(pid)", "program": "\(program)"] }
}
