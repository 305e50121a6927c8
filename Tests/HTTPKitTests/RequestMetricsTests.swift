import HTTPKit
import MerchantTestSupport
import NIOCore
import Testing

@Suite struct RequestMetricsTests {
    private static let routes = [(method: "GET", path: "/v1/keys/{publicKeyHash}"), (method: "POST", path: "/v1/x")]
    private static let labels = ["server": "decryptor", "method": "GET", "route": "/v1/keys/{publicKeyHash}"]

    private static func page(_ requests: RequestMetrics) throws -> PrometheusPage {
        var text = MetricsText()
        text.append(requests)
        return try PrometheusPage(text.text)
    }

    @Test("the recorders of one server are added up, by route and status")
    func sum() throws {
        let requests = RequestMetrics()
        let recorders = (0..<3).map { _ in requests.makeRecorder(server: "decryptor", routes: Self.routes) }
        for recorder in recorders {
            recorder.record(0, status: 200, duration: .microseconds(20))
            recorder.record(0, status: 404, duration: .milliseconds(20))
        }
        recorders[0].record(nil, status: 400, duration: .seconds(20))
        let page = try Self.page(requests)
        for status in ["200", "404"] {
            let labels = Self.labels.merging(["status": status]) { $1 }
            #expect(page["merchantkeyd_http_requests_total", labels] == 3)
        }
        let other = ["server": "decryptor", "method": "other", "route": "other"]
        #expect(page["merchantkeyd_http_requests_total", other.merging(["status": "400"]) { $1 }] == 1)
        #expect(page["merchantkeyd_http_request_duration_seconds_count", Self.labels] == 6)
        #expect(page["merchantkeyd_http_request_duration_seconds_bucket", other.merging(["le": "10.0"]) { $1 }] == 0)
        #expect(page["merchantkeyd_http_request_duration_seconds_sum", other] == 20)
        let sum = try #require(page["merchantkeyd_http_request_duration_seconds_sum", Self.labels])
        #expect(abs(sum - 0.06006) < 0.000_001)
    }

    @Test("each server has its own series, and a route without a request has none")
    func servers() throws {
        let requests = RequestMetrics()
        requests.makeRecorder(server: "admin", routes: Self.routes).record(1, status: 201, duration: .zero)
        requests.makeRecorder(server: "decryptor", routes: Self.routes).record(1, status: 201, duration: .zero)
        let page = try Self.page(requests)
        let series = page.values.keys.filter { $0.name == "merchantkeyd_http_requests_total" }
        #expect(Set(series.map { $0.labels["server"] }) == ["admin", "decryptor"])
        #expect(series.allSatisfy { $0.labels["route"] == "/v1/x" })
    }

    @Test("a label's value is escaped")
    func escaping() throws {
        var text = MetricsText()
        text.append("m", .gauge, "M.", [.init([("name", "a\"b\\c\nd")], 1)])
        #expect(text.text == "# HELP m M.\n# TYPE m gauge\nm{name=\"a\\\"b\\\\c\\nd\"} 1\n")
        _ = try PrometheusPage(text.text)
    }
}
