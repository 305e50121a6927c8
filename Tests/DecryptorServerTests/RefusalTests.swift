import Crypto
import DecryptorServer
import MerchantCore
import MerchantOperations
import Synchronization
import Testing
import Vocabulary

@Suite("Refusals in the audit")
struct RefusalTests {
    let server = DecryptorTestServer()
    private let daemon = Caller.daemon(uid: 1, gid: 1, pid: 1)

    @Test("Refusals are recorded by caller, permit and key, with their number")
    func grouped() async throws {
        let mine = server.addKey()
        let other = server.addKey(of: DecryptorTestServer.otherMerchant)
        let policy = DecryptorTestServer.policy([.resolve, .symmetricKey], merchants: [DecryptorTestServer.merchant])
        try await server.serve(policy: policy) { _ in
            let statuses = try await server.client { client in
                var statuses: [Int] = []
                for _ in 0..<20 {
                    statuses.append(try client.ask("GET", "/v1/keys/\(mine.base64URL)?include=privateKey").status)
                }
                for _ in 0..<3 { statuses.append(try client.ask("GET", "/v1/keys/\(other.base64URL)").status) }
                statuses.append(try client.ask("POST", "/v1/payment-tokens/decrypt", "{}").status)
                statuses.append(try client.ask("GET", "/v1/keys/\(mine.base64URL)").status)
                return statuses
            }
            #expect(statuses == [Int](repeating: 403, count: 24) + [200])
        }
        #expect(server.store.audit.isEmpty, "a refusal waits for no write")
        #expect(try await server.operations.refusalAudit.recordRefusals(as: daemon) == 3)
        let records = server.store.audit
        #expect(records.allSatisfy { $0.action == .requestsRefused && $0.caller != daemon })
        let recorded = records.map { ($0.publicKeyHash, $0.merchantIdentifier, $0.reason ?? "") }
        #expect(
            recorded.contains { $0 == mine && $2.hasPrefix("20 requests from ") && $2.contains("'exportPrivateKey'") })
        #expect(
            recorded.contains { $0 == other && $1 == DecryptorTestServer.otherMerchant && $2.contains("3 requests") })
        #expect(recorded.contains { $0 == nil && $2.hasPrefix("1 request from ") && $2.contains("'decrypt'") })
        #expect(try await server.operations.refusalAudit.recordRefusals(as: daemon) == 0)
    }

    @Test("A refused caller without any permit is recorded with the key that it named")
    func withoutRule() async throws {
        let hash = server.addKey()
        try await server.serve(policy: CallerPolicy(rules: [])) { _ in
            let replies = [
                try await server.ask("GET", "/v1/keys/\(hash.base64URL)"), try await server.ask("GET", "/v1/health"),
            ]
            #expect(replies.map(\.status) == [403, 403])
        }
        try await server.operations.refusalAudit.recordRefusals(as: daemon)
        #expect(server.store.audit.contains { $0.publicKeyHash == hash && $0.reason?.contains("'resolve'") == true })
        #expect(server.store.audit.contains { $0.reason?.contains("no permit at all") == true })
    }

    @Test(
        "While the audit cannot be written, requests that need a record get 503, keys are resolved, and refusals wait")
    func failingAudit() async throws {
        let key = P256.KeyAgreement.PrivateKey()
        let hash = server.addKey(key: key)
        let unverified = try MintedToken(to: key.publicKey).request()
        try await server.serve(
            policy: DecryptorTestServer.policy(Set(Permit.allCases).subtracting([.judgeAtOtherTime]))
        ) { _ in
            let failure = MerchantError(.storeUnavailable, "the disk is full")
            server.store.failure.withLock { $0 = failure }
            let exported = try await server.ask("GET", "/v1/keys/\(hash.base64URL)?include=privateKey")
            #expect(exported.status == 503 && !exported.text.contains("PRIVATE KEY"))
            #expect(exported.text.contains("the private key is not exported, because the audit cannot be written"))
            let opened = try await server.ask("POST", "/v1/payment-tokens/decrypt", unverified)
            #expect(opened.status == 503 && opened.text.contains("the token is not opened"), "\(opened.text)")
            #expect(opened.text.contains("the disk is full"))
            #expect(try await server.ask("GET", "/v1/keys/\(hash.base64URL)").status == 200)
            let other = unverified.replacing(#""verify":false"#, with: #""receivedAt":"2026-01-01T00:00:00Z""#)
            #expect(try await server.ask("POST", "/v1/payment-tokens/decrypt", other).status == 403)
            await #expect(throws: failure) { try await server.operations.refusalAudit.recordRefusals(as: daemon) }
            server.store.failure.withLock { $0 = nil }
            #expect(try await server.ask("POST", "/v1/payment-tokens/decrypt", other).status == 403)
        }
        #expect(try await server.operations.refusalAudit.recordRefusals(as: daemon) == 1)
        #expect(server.store.audit.map(\.action) == [.requestsRefused])
        #expect(server.store.audit.first?.reason?.hasPrefix("2 requests") == true)
    }
}
