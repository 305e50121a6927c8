import HTTPTypes
import Hummingbird
import MerchantCore
import ServerKit

/// Adds the header fields of every response, and removes the content of a response to HEAD (RFC 9110, section 9.3.2).
struct CommonHeadersMiddleware: RouterMiddleware {
    /// Further fields, which a response gets unless its handler has set them.
    let headers: HTTPFields
    /// Whether the connection of a caller without any permit is closed after a response with a status of 400 or more,
    /// so that the caller's further requests cause no work. False for a server that identifies the caller of each
    /// request, not of each connection.
    let closesRefusedConnections: Bool

    func handle(
        _ request: Request, context: RESTContext, next: (Request, RESTContext) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        response.headers.setIdentifiers(of: context)
        if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
        for field in headers where response.headers[field.name] == nil { response.headers.append(field) }
        if closesRefusedConnections, context.peer.grants.allowNothing, response.status.code >= 400 {
            response.headers[.connection] = "close"
        }
        return request.method == .head ? response.createHeadResponse() : response
    }
}
