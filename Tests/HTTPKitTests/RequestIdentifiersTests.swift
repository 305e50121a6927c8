import HTTPKit
import Logging
import Synchronization
import Testing

@Suite struct RequestIdentifiersTests {
    private static let traceId = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let valid = "00-\(traceId)-00f067aa0ba902b7-01"

    @Test func `a valid traceparent is returned with the same trace and flags and with a span of the server`() throws {
        let trace = try #require(TraceContext(traceparent: Self.valid, spanId: "b7ad6b7169203331"))
        #expect(trace.traceId == Self.traceId && trace.parentId == "00f067aa0ba902b7" && trace.flags == "01")
        #expect(trace.traceparent == "00-\(Self.traceId)-b7ad6b7169203331-01")
        #expect(try #require(TraceContext(traceparent: trace.traceparent)).spanId != trace.spanId)
    }

    @Test(arguments: [
        "", "00", "00-\(traceId)-00f067aa0ba902b7", "00-\(traceId)-00f067aa0ba902b7-01-",
        "00-\(traceId)-00f067aa0ba902b7-01-x", "00-\(traceId.uppercased())-00f067aa0ba902b7-01",
        "ff-\(traceId)-00f067aa0ba902b7-01", "0g-\(traceId)-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01", "00-\(traceId)-0000000000000000-01",
        "00_\(traceId)-00f067aa0ba902b7-01", "01-\(traceId)-00f067aa0ba902b7-01x",
        "00-\(traceId)-00f067aa0ba902b7-0\r", "01-\(traceId)-00f067aa0ba902b7-01-\(String(repeating: "x", count: 300))",
    ])
    func `an invalid traceparent is ignored`(value: String) {
        #expect(TraceContext(traceparent: value) == nil)
    }

    @Test func `a traceparent of a later version may have more fields`() {
        #expect(TraceContext(traceparent: "01-\(Self.traceId)-00f067aa0ba902b7-01-later")?.traceId == Self.traceId)
    }

    @Test(arguments: [
        "1", "7f3c9a", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "Root=1-67891233-abcdef012345678912345678",
        "a/b:c@d+e_f.g",
        String(repeating: "x", count: 128),
    ])
    func `an X-Request-Id of permitted characters is used`(value: String) {
        #expect(RequestIdentifiers(requestIds: [value], traceparents: [])?.requestId == value)
    }

    @Test(arguments: [
        "", " ", "a b", "a\tb", "a\"b", "a\\b", "é", "a\u{7f}", "a;b", "<script>", String(repeating: "x", count: 129),
    ])
    func `any other X-Request-Id is ignored`(value: String) {
        #expect(RequestIdentifiers(requestIds: [value], traceparents: []) == nil)
    }

    @Test func `a header field that occurs twice is ignored, and the other field is used`() {
        let identifiers = RequestIdentifiers(requestIds: ["a", "b"], traceparents: [Self.valid])
        #expect(identifiers?.requestId == nil && identifiers?.trace?.traceId == Self.traceId)
        #expect(RequestIdentifiers(requestIds: ["a", "a"], traceparents: []) == nil)
    }
}
