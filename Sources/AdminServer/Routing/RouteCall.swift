import HTTPKit
import Hummingbird
import Logging
import MerchantCore
import ServerKit

/// Calls the handler of a route and logs what it did.
struct RouteCall: Sendable {
    let route: AdminRoute
    let logger: Logger

    func respond(_ context: AdminRequestContext) async throws -> Response {
        guard let handler = context.handler, let query = context.query else {
            throw MerchantError(.internalError, "the route \(route.path) was called without its permit check")
        }
        let call = AdminCall(
            peer: context.peer, requestId: context.requestId, headers: context.headers, query: query,
            body: context.body)
        let response = try await handler(call)
        // The response to a change is sent even if memory is short, because the change was already made. Only the
        // responses to GET can be large.
        if route.method == .get, !response.isShared { try context.reserve(response.body.readableBytes) }
        log(response, context)
        return Response(
            status: response.status, headers: response.headers, body: ResponseBody(byteBuffer: response.body))
    }

    private func log(_ response: AdminResponse, _ context: AdminRequestContext) {
        let action = response.isDryRun ? nil : route.action
        let level: Logger.Level = action == nil ? .debug : .info
        guard level >= logger.logLevel else { return }
        var metadata = context.peer.caller.logMetadata
        metadata["requestId"] = "\(context.requestId)"
        if let merchant = response.merchant { metadata["merchantIdentifier"] = "\(merchant)" }
        if let key = response.key { metadata["publicKeyHash"] = "\(key)" }
        if action == nil { metadata["route"] = "\(route.method.rawValue) \(route.path)" }
        logger.log(level: level, "\(action ?? "request answered")", metadata: metadata)
    }
}

extension Caller {
    /// The fields of a log line that identify the caller.
    var logMetadata: Logger.Metadata { ["uid": "\(uid)", "pid": "\(pid)", "program": "\(program)"] }
}
