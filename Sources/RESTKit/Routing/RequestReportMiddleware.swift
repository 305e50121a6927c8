import HTTPKit
import Hummingbird
import MerchantCore
import NIOCore
import Tracing

/// Identifies the caller of a request, counts the request, and responds with a problem document if the request fails.
///
/// The caller is identified here, so that the log line about an error names the caller.
struct RequestReportMiddleware: RouterMiddleware {
    /// A route of the server.
    struct Route: Sendable {
        /// The index among the routes of the ``RequestReporter``.
        let index: Int
        /// The method and the path's template, such as `GET /v1/status`.
        let name: String
        let permit: Permit?
    }

    let reporter: RequestReporter
    /// nil for requests that match no route.
    let route: Route?
    /// nil if the connection identifies the caller.
    let authenticate: RequestAuthentication?

    func handle(
        _ request: Request, context: RESTContext, next: (Request, RESTContext) async throws -> Response
    ) async throws -> Response {
        let start = NIODeadline.now()
        var context = context
        let response: Response
        do {
            if let authenticate { context.peer = try await authenticate(request, route?.permit, context) }
            let identified = context
            response = try await withSpan(
                route?.name ?? "other", context: .request(context.trace), ofKind: .server
            ) { _ in try await next(request, identified) }
        } catch let error as BrokenConnection {
            // A response cannot be sent. The error closes the connection.
            throw error.cause
        } catch {
            response = reporter.problem(error, route?.name, context)
        }
        reporter.record(route?.index, response, since: start, context)
        return response
    }
}
