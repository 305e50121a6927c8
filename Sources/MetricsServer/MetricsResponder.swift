import HTTPKit
import Logging
import MerchantCore
import MetricsKit
import NIOCore
import NIOHTTP1
import ServerKit

/// Creates the responses of the ``MetricsServer``, counts them and writes them to the access log.
final class MetricsResponder: Sendable {
    struct Response: Sendable {
        let status: HTTPResponseStatus
        let headers: HTTPHeaders
        let body: ByteBuffer
    }

    private enum Route: Int, CaseIterable {
        case metrics, health

        var path: String {
            switch self {
            case .metrics: "/metrics"
            case .health: "/health"
            }
        }
    }

    private let page: SharedPage
    private let isReady: @Sendable () -> Bool
    private let recorder: RequestMetrics.Recorder
    private let problems: ProblemReporter
    private let accessLog: AccessLog

    init(
        report: MetricsReport, isReady: @escaping @Sendable () -> Bool, requests: RequestMetrics,
        problems: ProblemReporter, accessLog: AccessLog
    ) {
        page = SharedPage(report)
        self.isReady = isReady
        recorder = requests.makeRecorder(
            server: "metrics", routes: Route.allCases.map { (method: "GET", path: $0.path) })
        self.problems = problems
        self.accessLog = accessLog
    }

    func response(to head: HTTPRequestHead) async -> Response {
        let start = NIODeadline.now()
        let identifiers = RequestIdentifiers(
            requestIds: head.headers["x-request-id"], traceparents: head.headers["traceparent"])
        let requestId = identifiers?.requestId ?? RequestId.make()
        let route = Route.allCases.first { $0.path == RequestTarget(head.uri).path }
        var response: Response
        if let route, head.method == .GET || head.method == .HEAD {
            response = await self.response(of: route)
        } else if route != nil {
            response = refusal(of: HTTPFault.methodNotAllowed(allow: "GET, HEAD"), requestId)
        } else {
            response = refusal(
                of: MerchantError(.notFound, "no route matches this path; this port has /metrics and /health"),
                requestId)
        }
        var headers = response.headers
        headers.replaceOrAdd(name: "X-Request-Id", value: requestId)
        if let trace = identifiers?.trace { headers.replaceOrAdd(name: "traceparent", value: trace.traceparent) }
        headers.replaceOrAdd(name: "Cache-Control", value: "no-store")
        response = Response(status: response.status, headers: headers, body: response.body)
        record(
            route, Int(response.status.code), (NIODeadline.now() - start).nanoseconds, requestId, identifiers?.trace)
        return response
    }

    /// The response to a request that violates a rule of HTTP.
    func refusal(_ fault: HTTPFault) -> RequestGuard.Refusal {
        let requestId = RequestId.make()
        let response = refusal(of: fault, requestId)
        record(nil, Int(response.status.code), 0, requestId, nil)
        return RequestGuard.Refusal(status: response.status, headers: response.headers, body: response.body)
    }

    private func response(of route: Route) async -> Response {
        switch route {
        case .metrics:
            return Response(
                status: .ok, headers: ["Content-Type": MetricsText.mediaType],
                body: ByteBuffer(string: await page.text()))
        case .health:
            let isReady = self.isReady()
            return Response(
                status: isReady ? .ok : .serviceUnavailable, headers: ["Content-Type": "text/plain; charset=utf-8"],
                body: ByteBuffer(string: isReady ? "ready\n" : "not ready\n"))
        }
    }

    private func refusal(of error: any Error, _ requestId: String) -> Response {
        let problem = problems.response(to: error, requestId: requestId, source: "metrics")
        return Response(
            status: HTTPResponseStatus(statusCode: problem.status),
            headers: HTTPHeaders(problem.fields.map { ($0.name, $0.value) }), body: problem.body)
    }

    private func record(
        _ route: Route?, _ status: Int, _ nanoseconds: Int64, _ requestId: String, _ trace: TraceContext?
    ) {
        recorder.record(route?.rawValue, status: status, nanoseconds: nanoseconds)
        accessLog.write(
            server: "metrics", route: route.map { "GET \($0.path)" }, status: status, nanoseconds: nanoseconds,
            requestId: requestId, trace: trace, caller: [:])
    }
}
