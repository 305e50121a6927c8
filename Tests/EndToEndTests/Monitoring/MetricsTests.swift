import MerchantTestSupport
import Testing

/// `GET /metrics` of a running daemon.
@Suite struct MetricsTests {
    @Test func `the metrics count the requests on both sockets`() throws {
        let installation = try Installation()
        try installation.start()
        let unknown = "/v1/keys/\(String(repeating: "A", count: 43))"
        for _ in 0..<3 {
            #expect(try installation.curl(installation.decryptorSocket, unknown).output == "404")
        }
        let page = try PrometheusPage(installation.curlBody(installation.adminSocket, "/metrics").output)
        func count(_ server: String, _ path: String, _ status: String) -> Double? {
            page[
                "merchantkeyd_http_requests_total",
                ["server": server, "method": "GET", "route": path, "status": status]]
        }
        #expect(count("decryptor", "/v1/keys/{publicKeyHash}", "404") == 3)
        #expect(count("admin", "/v1/health", "200") ?? 0 > 0)
        #expect(
            page[
                "merchantkeyd_http_request_duration_seconds_count",
                ["server": "decryptor", "method": "GET", "route": "/v1/keys/{publicKeyHash}"]] == 3)
        #expect(installation.stop() == 0)
    }
}
