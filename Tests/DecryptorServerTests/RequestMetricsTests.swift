import DecryptorServer
import MerchantCore
import MetricsKit
import Synchronization
import Testing
import Vocabulary

@Suite("Metrics of requests")
struct DecryptorRequestMetricsTests {
    let server = DecryptorTestServer()

    private func count(_ method: String, _ path: String, _ status: Int) -> Int? {
        server.requests.snapshot().first { $0.key.method == method && $0.key.path == path }?.value.countByStatus[status]
    }

    @Test("Every response is counted once, by route and status, with its duration")
    func counted() async throws {
        let hash = server.addKey()
        let rsa = server.addKey(algorithm: .rsaV1)
        try await server.serve { _ in
            for _ in 0..<3 { _ = try await server.ask("GET", "/v1/keys/\(hash.base64URL)") }
            _ = try await server.ask("HEAD", "/v1/keys/\(hash.base64URL)")
            _ = try await server.ask("GET", "/v1/keys/\(PublicKeyHash(of: [1]).base64URL)")
            _ = try await server.ask("GET", "/v1/keys/short")
            _ = try await server.ask("POST", "/v1/keys/\(rsa.base64URL)/symmetric-key", DecryptorTestServer.wrappedKey)
            _ = try await server.ask("GET", "/none")
            _ = try await server.ask("DELETE", "/v1/health")
            _ = try await server.client { client in
                client.send("GET /v1/health HTTP/1.1\r\n\r\n")
                return try client.reply()
            }
        }
        #expect(count("GET", "/v1/keys/{publicKeyHash}", 200) == 4)
        #expect(count("GET", "/v1/keys/{publicKeyHash}", 404) == 1)
        #expect(count("GET", "/v1/keys/{publicKeyHash}", 400) == 1)
        #expect(count("POST", "/v1/keys/{publicKeyHash}/symmetric-key", 200) == 1)
        #expect(count("other", "other", 404) == 1)
        #expect(count("other", "other", 405) == 1)
        #expect(count("other", "other", 400) == 1)
        let all = server.requests.snapshot().values
        #expect(all.reduce(0) { $0 + $1.count } == 10)
        #expect(all.allSatisfy { $0.nanoseconds >= 0 && $0.count == $0.countByStatus.values.reduce(0, +) })
    }

    @Test("A refused caller is counted under the route that it asked for")
    func forbidden() async throws {
        try await server.serve(policy: DecryptorTestServer.policy([])) { _ in
            _ = try await server.ask("GET", "/v1/health")
        }
        #expect(count("GET", "/v1/health", 403) == 1)
    }

    @Test("Retry-After has the time that the error gives, or the default for the error code")
    func retryAfter() async throws {
        let hash = server.addKey()
        try await server.serve(policy: DecryptorTestServer.policy(Set(Permit.allCases))) { _ in
            let target = "/v1/keys/\(hash.base64URL)?include=privateKey"
            server.store.failure.withLock { $0 = MerchantError(.storeUnavailable, "the disk is full", retryAfter: 7) }
            let given = try await server.ask("GET", target)
            #expect(given.status == 503 && given.fields["retry-after"] == "7")
            server.store.failure.withLock { $0 = MerchantError(.storeUnavailable, "the disk is full") }
            let other = try await server.ask("GET", target)
            #expect(other.status == 503 && other.fields["retry-after"] == "1")
        }
    }
}
