import DaemonKit
import Foundation
import HTTPKit
import Logging
import MerchantCore
import Synchronization
import Testing
import Tracing

@Suite struct LogTracerTests {
    private final class Lines: Sendable {
        private let all = Mutex<[String]>([])

        func append(_ line: String) { all.withLock { $0.append(line) } }

        /// The members of the lines, in the order in which the spans ended.
        func decoded() throws -> [[String: String]] {
            try all.withLock { $0 }.map { try JSONDecoder().decode([String: String].self, from: Data($0.utf8)) }
        }
    }

    private let lines = Lines()
    private var tracer: LogTracer {
        LogTracer(Logger(label: "test") { [lines] _ in LineLogHandler(.json) { lines.append($0) } })
    }

    @Test func `a server's span has the identifier of its trace context, and its child is in the same trace`() throws {
        let trace = try #require(
            TraceContext(traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))
        let tracer = tracer
        let server = tracer.startSpan("GET /v1/status", context: .request(trace), ofKind: .server)
        let child = tracer.startSpan("claim token", context: server.context)
        child.end()
        server.end()
        server.end()
        let spans = try lines.decoded()
        #expect(spans.map { $0["name"] } == ["claim token", "GET /v1/status"])
        #expect(spans.allSatisfy { $0["message"] == "span" && $0["traceId"] == trace.traceId })
        #expect(spans[1]["spanId"] == trace.spanId && spans[1]["parentSpanId"] == trace.parentId)
        #expect(spans[0]["parentSpanId"] == trace.spanId && spans[0]["spanId"] != trace.spanId)
        #expect(spans[1]["kind"] == "server" && Int(spans[1]["durationMicroseconds"] ?? "") != nil)
    }

    @Test func `a span without a client's trace begins a trace`() throws {
        tracer.startSpan("a", context: .topLevel).end()
        let span = try #require(try lines.decoded().first)
        #expect(span["traceId"]?.count == 32 && span["spanId"]?.count == 16 && span["parentSpanId"] == nil)
    }

    @Test func `a span has the code of an error and nothing of its text, and no attribute`() throws {
        let span = tracer.startSpan("a", context: .topLevel)
        span.attributes["http.url"] = "https://example.com/secret"
        span.recordError(MerchantError(.tokenMismatch, "found 4817499130210000"), attributes: [:])
        span.end()
        let line = try #require(try lines.decoded().first)
        #expect(line["failure"] == "tokenMismatch")
        #expect(!line.values.contains { $0.contains("secret") || $0.contains("4817") })
    }
}
