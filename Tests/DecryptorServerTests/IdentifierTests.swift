import DecryptorServer
import HTTPKit
import MerchantCore
import MerchantTestSupport
import MetricsKit
import NIOCore
import NIOHTTP1
import Testing
import Vocabulary

/// `X-Request-Id` and `traceparent` on the decryptor socket.
@Suite("Identifiers of requests")
struct IdentifierTests {
    private static let traceId = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let identifiers =
        "x-request-id: pay-7\r\nTraceparent: 00-\(traceId)-00f067aa0ba902b7-01\r\n"

    let server = DecryptorTestServer()

    private func ask(
        _ method: String, _ target: String, _ body: String? = nil, fields: String = IdentifierTests.identifiers
    ) async throws -> SocketClient.Reply {
        try await server.client { try $0.ask(method, target, body, fields: fields) }
    }

    @Test func `every kind of response has the request id and the trace id of its request`() async throws {
        let hash = server.addKey()
        let rsa = server.addKey(algorithm: .rsaV1)
        try await server.serve { _ in
            let replies = [
                // Read from the store, then from the cache.
                try await ask("GET", "/v1/keys/\(hash.base64URL)"), try await ask("GET", "/v1/keys/\(hash.base64URL)"),
                try await ask("GET", "/v1/health"), try await ask("GET", "/v1/keys/short"),
                try await ask("GET", "/none"),
                try await ask("POST", "/v1/keys/\(rsa.base64URL)/symmetric-key", DecryptorTestServer.wrappedKey),
                try await ask("POST", "/v1/payment-tokens/decrypt", "{}"),
                try await ask("GET", "/v1/keys/\(hash.base64URL)?include=privateKey"),
            ]
            #expect(replies.map(\.status) == [200, 200, 200, 400, 404, 200, 400, 200])
            for reply in replies {
                #expect(reply.fields["x-request-id"] == "pay-7", "\(reply.status)")
                let trace = try #require(reply.fields["traceparent"])
                #expect(trace.hasPrefix("00-\(Self.traceId)-") && trace.hasSuffix("-01"))
                #expect(!trace.contains("00f067aa0ba902b7"))
                if reply.status >= 400 { #expect(reply.text.contains(#""requestId":"pay-7""#)) }
            }
        }
    }

    @Test func `the audit records the client's identifier of a request`() async throws {
        let hash = server.addKey()
        try await server.serve { _ in _ = try await ask("GET", "/v1/keys/\(hash.base64URL)?include=privateKey") }
        #expect(server.store.audit.map(\.requestId) == ["pay-7"])
    }

    @Test func `an invalid request id is replaced; a resolved key has none unless the client sent one`() async throws {
        let hash = server.addKey()
        try await server.serve { _ in
            let refused = try await ask("GET", "/none", fields: "X-Request-Id: a b\r\ntraceparent: 00-1-2-3\r\n")
            let requestId = try #require(refused.fields["x-request-id"])
            #expect(requestId.count == 16 && refused.text.contains(requestId))
            #expect(refused.fields["traceparent"] == nil)
            let found = try await ask("GET", "/v1/keys/\(hash.base64URL)", fields: "")
            #expect(found.status == 200 && found.fields["x-request-id"] == nil)
        }
    }

    @Test func `identifiers are added to a copy, and a cached response stays without them`() throws {
        let response = EncodedResponse(.ok, bodyCapacity: 2) { $0.writeString("{}") }
        let identifiers = try #require(RequestIdentifiers(requestIds: ["a"], traceparents: []))
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
        let named = response.wireBytes(isHead: false, isLast: true, identifiers: identifiers)
        #expect(String(buffer: named) == head + "X-Request-Id: a\r\nConnection: close\r\n\r\n{}")
        #expect(String(buffer: response.wireBytes(isHead: false, isLast: false)) == head + "\r\n{}")
    }

    @Test func `lookups in the cache are counted as hits and misses`() async throws {
        let hash = server.addKey()
        try await server.serve { _ in
            for _ in 0..<3 { _ = try await ask("GET", "/v1/keys/\(hash.base64URL)", fields: "") }
        }
        var text = MetricsText()
        server.responses.append(to: &text)
        let page = try PrometheusPage(text.text)
        #expect(page["merchantkeyd_key_cache_lookups_total", ["result": "miss"]] == 1)
        #expect(page["merchantkeyd_key_cache_lookups_total", ["result": "hit"]] == 2)
        #expect(page["merchantkeyd_key_cache_bytes"] ?? 0 > 0)
    }
}
