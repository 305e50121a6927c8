import MerchantTestSupport
import MetricsKit
import Testing

@Suite struct RequestMetricsTests {
    private static let routes = [(method: "GET", path: "/v1/keys/{publicKeyHash}"), (method: "POST", path: "/v1/x")]
    private static let labels = ["server": "decryptor", "method": "GET", "route": "/v1/keys/{publicKeyHash}"]

    private static func page(_ requests: RequestMetrics) throws -> PrometheusPage {
        var text = MetricsText()
        requests.append(to: &text)
        return try PrometheusPage(text.text)
    }

    @Test("the recorders of one server are added up, by route and status")
    func sum() throws {
        let requests = RequestMetrics()
        let recorders = (0..<3).map { _ in requests.makeRecorder(server: "decryptor", routes: Self.routes) }
        for recorder in recorders {
            recorder.record(0, status: 200, nanoseconds: 20_000)
            recorder.record(0, status: 404, nanoseconds: 20_000_000)
        }
        recorders[0].record(nil, status: 400, nanoseconds: 20_000_000_000)
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
        requests.makeRecorder(server: "admin", routes: Self.routes).record(1, status: 201, nanoseconds: 0)
        requests.makeRecorder(server: "decryptor", routes: Self.routes).record(1, status: 201, nanoseconds: 0)
        let page = try Self.page(requests)
        let series = page.values.keys.filter { $0.name == "merchantkeyd_http_requests_total" }
        #expect(Set(series.map { $0.labels["server"] }) == ["admin", "decryptor"])
        #expect(series.allSatisfy { $0.labels["route"] == "/v1/x" })
    }

    @Test func `a status without a count of its own is counted as other`() throws {
        let requests = RequestMetrics()
        let recorder = requests.makeRecorder(server: "decryptor", routes: Self.routes)
        for status in [-1, 0, 100, 299, 599, 600, 1_000_000] { recorder.record(0, status: status, nanoseconds: 0) }
        let page = try Self.page(requests)
        #expect(page["merchantkeyd_http_requests_total", Self.labels.merging(["status": "other"]) { $1 }] == 7)
        #expect(page["merchantkeyd_http_request_duration_seconds_count", Self.labels] == 7)
    }

    @Test func `no recording is lost when many threads record at the same time`() async throws {
        let requests = RequestMetrics()
        let recorder = requests.makeRecorder(server: "decryptor", routes: Self.routes)
        await withDiscardingTaskGroup { tasks in
            for _ in 0..<8 {
                tasks.addTask {
                    for _ in 0..<10_000 { recorder.record(0, status: 200, nanoseconds: 1_000) }
                }
            }
        }
        let page = try Self.page(requests)
        #expect(page["merchantkeyd_http_requests_total", Self.labels.merging(["status": "200"]) { $1 }] == 80_000)
    }
}
