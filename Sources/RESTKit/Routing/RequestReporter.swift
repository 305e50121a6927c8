package import HTTPKit
import HTTPTypes
package import HummingbirdCore
import Logging
import MerchantCore
package import NIOCore
import NIOHTTP1
package import ServerKit

/// Converts errors to responses with problem documents, and counts the requests to one server in the metrics.
package struct RequestReporter: Sendable {
    /// Logs errors, and makes problem documents of them.
    package let problems: ProblemReporter
    private let recorder: RequestMetrics.Recorder

    /// - Parameters:
    ///   - server: the server's name in the metrics.
    ///   - routes: the method and the path template of each route.
    package init(
        problems: ProblemReporter, requests: RequestMetrics, server: String, routes: [(method: String, path: String)]
    ) {
        self.problems = problems
        recorder = requests.makeRecorder(server: server, routes: routes)
    }

    /// - Parameter route: the index among the routes of this reporter; nil if the request matched no route.
    package func record(_ route: Int?, _ response: Response, since start: NIODeadline) {
        recorder.record(route, status: response.status.code, duration: .now() - start)
    }

    /// The response to a request that failed.
    ///
    /// - Parameter route: the method and the path template of the route, for the log; nil if the request matched no
    ///   route.
    package func problem(_ error: any Error, _ route: String?, _ context: RESTContext) -> Response {
        let withHeaders = error as? ErrorWithHeaders
        let caller = context.peer.caller
        let problem = problems.response(
            to: withHeaders?.error ?? error, requestId: context.requestId, source: caller.name,
            metadata: caller.logMetadata.merging(route.map { ["route": "\($0)"] } ?? [:]) { old, _ in old })
        var headers = withHeaders?.headers ?? HTTPFields()
        for (name, value) in problem.fields { HTTPField.Name(name).map { headers[$0] = value } }
        return Response(
            status: .init(code: problem.status), headers: headers, body: ResponseBody(byteBuffer: problem.body))
    }

    /// The response to a request that violates a rule of HTTP. ``RequestGuard`` refuses such a request before the router
    /// receives it, so this function also counts the request in the metrics.
    package func refusal(_ error: any Error, _ connection: RESTConnection) -> RequestGuard.Refusal {
        let caller = connection.peer.caller
        let problem = problems.response(
            to: error, requestId: RequestId.make(), source: caller.name, metadata: caller.logMetadata)
        recorder.record(nil, status: problem.status, duration: .zero)
        return RequestGuard.Refusal(
            status: HTTPResponseStatus(statusCode: problem.status),
            headers: HTTPHeaders(problem.fields.map { ($0.name, $0.value) } + [("Cache-Control", "no-store")]),
            body: problem.body)
    }
}
