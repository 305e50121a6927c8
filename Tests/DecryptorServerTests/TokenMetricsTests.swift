import Crypto
import DecryptorServer
import MerchantOperations
import MerchantTestSupport
import MetricsKit
import Testing
import Vocabulary

@Suite("Metrics of payment tokens")
struct TokenMetricsTests {
    let server = DecryptorTestServer()
    let key = P256.KeyAgreement.PrivateKey()

    init() { server.addKey(key: key) }

    private func decrypt(
        _ token: MintedToken, expecting expected: String = #"{"merchantIdentifier":"any"}"#
    ) async throws -> Int {
        try await server.ask("POST", "/v1/payment-tokens/decrypt", token.request(expected: expected, "")).status
    }

    private func page() throws -> PrometheusPage {
        var text = MetricsText()
        server.operations.tokenMetrics.append(to: &text)
        return try PrometheusPage(text.text)
    }

    @Test func `a refused token is counted under the check that failed, and a claim under its result`() async throws {
        let genuine = try MintedToken(to: key.publicKey, payment: 1, signedAt: server.clock.now)
        let other = try MintedToken(to: key.publicKey, payment: 2, signedAt: server.clock.now)
        let old = try MintedToken(to: key.publicKey, payment: 3, signedAt: server.clock.now.adding(.seconds(-3600)))
        let forged = try MintedToken(to: key.publicKey, payment: 4)
        try await server.serve { _ in
            let statuses = [
                try await decrypt(genuine), try await decrypt(genuine),
                try await decrypt(other, expecting: #"{"merchantIdentifier":"merchant.com.example.other"}"#),
                try await decrypt(other, expecting: #"{"merchantIdentifier":"any","currencyCode":"978"}"#),
                try await decrypt(old), try await decrypt(forged),
            ]
            #expect(statuses == [200, 409, 422, 422, 422, 422])
        }
        let page = try self.page()
        func refusals(_ check: String) -> Double? { page["merchantkeyd_token_refusals_total", ["check": check]] }
        #expect(page["merchantkeyd_tokens_decrypted_total"] == 1)
        for check in ["replay", "merchantIdentifier", "currencyCode", "signingTime", "structure"] {
            #expect(refusals(check) == 1, "\(check)")
        }
        for check in ["signature", "certificateChain", "transactionAmount", "decryption", "algorithm"] {
            #expect(refusals(check) == 0, "\(check)")
        }
        #expect(page["merchantkeyd_token_claims_total", ["result": "claimed"]] == 1)
        #expect(page["merchantkeyd_token_claims_total", ["result": "alreadyClaimed"]] == 1)
        #expect(page["merchantkeyd_token_claims_total", ["result": "failed"]] == 0)
        #expect(page["merchantkeyd_token_claim_duration_seconds_count"] == 2)
    }
}
