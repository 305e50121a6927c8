package import HTTPKit
import HTTPTypes
package import HummingbirdCore
import Logging
import MerchantCore
package import MetricsKit
package import NIOCore
import NIOHTTP1
package import ServerKit

/// Converts errors to responses with problem documents, counts the requests to one server in the metrics, and writes
/// them to the access log.
package struct RequestReporter: Sendable {
    /// Logs errors, and converts them to problem documents.
    package let problems: ProblemReporter
    private let recorder: RequestMetrics.Recorder
    private let server: String
    /// The method and the path's template of each route.
    private let routeNames: [String]
    private let accessLog: AccessLog

    /// - Parameters:
    ///   - server: the server's name in the metrics.
    ///   - routes: the method and the path template of each route.
    package init(
        problems: ProblemReporter, requests: RequestMetrics, server: String, routes: [(method: String, path: String)],
        accessLog: AccessLog = .off
    ) {
        self.problems = problems
        self.server = server
        self.accessLog = accessLog
        routeNames = routes.map { "\($0.method) \($0.path)" }
        recorder = requests.makeRecorder(server: server, routes: routes)
    }

    /// Counts a response in the metrics, and writes it to the access log.
    ///
    /// - Parameter route: the index among the routes of this reporter; nil if the request matched no route.
    package func record(_ route: Int?, _ response: Response, since start: NIODeadline, _ context: RESTContext) {
        let nanoseconds = (NIODeadline.now() - start).nanoseconds
        recorder.record(route, status: response.status.code, nanoseconds: nanoseconds)
        guard accessLog.isOn else { return }
        accessLog.write(
            server: server, route: route.map { routeNames[$0] }, status: response.status.code, nanoseconds: nanoseconds,
            requestId: context.requestId, trace: context.trace, caller: context.peer.caller.logMetadata)
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
            metadata: Self.logMetadata(of: context, route))
        var headers = withHeaders?.headers ?? HTTPFields()
        for (name, value) in problem.fields { HTTPField.Name(name).map { headers[$0] = value } }
        return Response(
            status: .init(code: problem.status), headers: headers, body: ResponseBody(byteBuffer: problem.body))
    }

    private static func logMetadata(of context: RESTContext, _ route: String?) -> Logger.Metadata {
        var metadata = context.peer.caller.logMetadata
        if let route { metadata["route"] = "\(route)" }
        if let trace = context.trace { metadata.merge(trace.logMetadata) { $1 } }
        return metadata
    }

    /// The response to a request that violates a rule of HTTP. ``RequestGuard`` refuses such a request before the
    /// router receives it, so this function also counts the request in the metrics.
    package func refusal(_ error: any Error, _ connection: RESTConnection) -> RequestGuard.Refusal {
        let caller = connection.peer.caller
        let requestId = RequestId.make()
        let problem = problems.response(
            to: error, requestId: requestId, source: caller.name, metadata: caller.logMetadata)
        recorder.record(nil, status: problem.status, nanoseconds: 0)
        accessLog.write(
            server: server, route: nil, status: problem.status, nanoseconds: 0, requestId: requestId, trace: nil,
            caller: caller.logMetadata)
        return RequestGuard.Refusal(
            status: HTTPResponseStatus(statusCode: problem.status),
            headers: HTTPHeaders(problem.fields.map { ($0.name, $0.value) } + [("Cache-Control", "no-store")]),
            body: problem.body)
    }
}
