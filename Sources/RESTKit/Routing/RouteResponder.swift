import HTTPKit
import Hummingbird
import Logging
import MerchantCore
import NIOCore
import ServerKit

/// Responds to the requests of one route: checks the caller's permit, reads the request, calls the handler, and writes
/// a log line.
struct RouteResponder<Handlers: RESTHandlers>: HTTPResponder {
    let route: RESTRoute<Handlers>
    let handlers: Handlers
    let readLimits: ReadLimits
    let logger: Logger
    private let input: RequestInput
    /// The index of the parameter among the path's segments; nil if the path has no parameter.
    private let parameterIndex: Int?

    init(route: RESTRoute<Handlers>, handlers: Handlers, readLimits: ReadLimits, logger: Logger) {
        self.route = route
        self.handlers = handlers
        self.readLimits = readLimits
        self.logger = logger
        input = RequestInput(query: route.query, maximumBodyBytes: route.maximumBodyBytes)
        parameterIndex = route.path.split(separator: "/").firstIndex { $0.hasPrefix("{") }
    }

    func respond(to request: Request, context: RESTContext) async throws -> Response {
        let target = RequestTarget(request.head.path ?? "")
        // Hummingbird ignores empty segments, so it would also match a path such as `//v1/keys`.
        guard target.hasNoEmptySegments else { throw MerchantError.noRoute }
        let parameter = parameterIndex.map { target.path.split(separator: "/")[$0] }
        let handler = try await route.authorize(context.peer, parameter, handlers)
        let (query, body) = try await input.read(request, target, context)
        let call = RESTCall(
            peer: context.peer, requestId: context.requestId, headers: request.headers, query: query, body: body,
            outOfScope: Handlers.outOfScope)
        let response =
            if route.method == .get {
                try await readLimits.run(for: call.peer.holder, waitsForEvents: call.query["wait"] != nil) {
                    try await handler(call)
                }
            } else {
                try await handler(call)
            }
        // Only responses to GET can be large. For other methods, no memory is reserved: the change is already made, and
        // a failed reservation would prevent the response.
        if route.method == .get, !response.isShared { try context.reserve(response.body.readableBytes) }
        log(response, context)
        return Response(
            status: response.status, headers: response.headers, body: ResponseBody(byteBuffer: response.body))
    }

    private func log(_ response: RESTResponse, _ context: RESTContext) {
        let message = response.isDryRun ? nil : route.logMessage
        let level: Logger.Level = message == nil ? .debug : .info
        guard level >= logger.logLevel else { return }
        var metadata = context.peer.caller.logMetadata
        metadata["requestId"] = "\(context.requestId)"
        if let trace = context.trace { metadata.merge(trace.logMetadata) { $1 } }
        if let merchant = response.merchant { metadata["merchantIdentifier"] = "\(merchant)" }
        if let key = response.key { metadata["publicKeyHash"] = "\(key)" }
        if message == nil { metadata["route"] = "\(route.name)" }
        logger.log(level: level, "\(message ?? "request answered")", metadata: metadata)
    }
}
