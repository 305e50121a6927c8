import AdminServer
import Foundation
import MerchantCore
import MerchantTestSupport
import Testing

/// `X-Request-Id` and `traceparent` on the admin socket.
@Suite struct IdentifierTests {
    private static let traceId = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let headers = ["X-Request-Id: deploy-7", "traceparent: 00-\(traceId)-00f067aa0ba902b7-01"]

    @Test func `the client's identifiers are in the response, the error document, the log and the audit`() async throws
    {
        try await TestServer.run { server in
            let merchant = #"{"merchantIdentifier": "merchant.com.example.shop"}"#
            let added = try await server.curl("POST", "/v1/merchants", merchant, headers: Self.headers)
            #expect(added.status == 201 && added.headers["x-request-id"] == "deploy-7")
            #expect(added.headers["traceparent"]?.hasPrefix("00-\(Self.traceId)-") == true)
            #expect(server.repository.audit.map(\.requestId) == ["deploy-7"])
            let line = try #require(server.log.lines.first { $0.contains("requestId=deploy-7") })
            #expect(line.contains("traceId=\(Self.traceId)") && line.contains("parentSpanId=00f067aa0ba902b7"))
            for path in ["/v1/merchants/merchant.com.example.gone", "/none"] {
                let refused = try await server.curl("GET", path, headers: Self.headers)
                #expect(refused.headers["x-request-id"] == "deploy-7" && refused.string("requestId") == "deploy-7")
                #expect(refused.headers["traceparent"]?.hasPrefix("00-\(Self.traceId)-") == true)
            }
        }
    }

    @Test(arguments: [
        ["X-Request-Id: a b"], ["X-Request-Id: a", "X-Request-Id: b"], ["traceparent: 00-0-0-0"],
        ["X-Request-Id: \(String(repeating: "x", count: 129))"],
    ])
    func `an invalid identifier is ignored, and the daemon generates the request id`(headers: [String]) async throws {
        try await TestServer.run { server in
            let reply = try await server.curl("GET", "/v1/merchants/merchant.com.example.gone", headers: headers)
            let requestId = try #require(reply.headers["x-request-id"])
            #expect(requestId.count == 16 && reply.string("requestId") == requestId)
            #expect(reply.headers["traceparent"] == nil)
        }
    }
}
