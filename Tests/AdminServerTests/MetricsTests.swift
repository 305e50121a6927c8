import AdminServer
import Foundation
import MerchantTestSupport
import MetricsKit
import NIOCore
import Testing

@Suite struct MetricsTests {
    @Test("the page has the requests of every server and follows the exposition format")
    func page() async throws {
        try await TestServer.run { server in
            _ = try await server.addTwoMerchants()
            server.requests.makeRecorder(server: "decryptor", routes: [("GET", "/v1/keys/{publicKeyHash}")])
                .record(0, status: 200, nanoseconds: 30_000)
            _ = try await server.curl("GET", "/v1/merchants/merchant.com.example.shop")
            _ = try await server.curl("HEAD", "/v1/merchants/merchant.com.example.gone")
            _ = try await server.curl("PUT", "/v1/merchants")
            _ = await RawConnection.exchange("GET /v1/health HTTP/1.1\r\n\r\n", with: server.socket)
            let page = try PrometheusPage(await server.curl("GET", "/metrics").text)
            func count(_ server: String, _ method: String, _ route: String, _ status: String) -> Double? {
                page[
                    "merchantkeyd_http_requests_total",
                    ["server": server, "method": method, "route": route, "status": status]]
            }
            #expect(count("decryptor", "GET", "/v1/keys/{publicKeyHash}", "200") == 1)
            #expect(count("admin", "GET", "/v1/merchants/{merchantIdentifier}", "200") == 1)
            #expect(count("admin", "GET", "/v1/merchants/{merchantIdentifier}", "404") == 1)
            #expect(count("admin", "other", "other", "405") == 1)
            #expect(count("admin", "other", "other", "400") == 1)
            #expect(page.types["merchantkeyd_http_request_duration_seconds"] == "histogram")
            #expect(page["merchantkeyd_merchants"] == 2)
        }
    }

    static let hasPromtool = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .contains { FileManager.default.isExecutableFile(atPath: "\($0)/promtool") }

    @Test("promtool finds nothing wrong with the page", .enabled(if: hasPromtool, "needs promtool"))
    func promtool() async throws {
        try await TestServer.run { server in
            _ = try await server.curl("GET", "/v1/status")
            let page = try await server.curl("GET", "/metrics").body
            _ = try await TestServer.run("promtool", ["check", "metrics"], input: page)
        }
    }
}
