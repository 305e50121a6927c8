import Crypto
import DecryptorServer
import FoundationEssentials
import MerchantCore
import PaymentToken
import Testing
import Vocabulary
import WireAPI

@Suite("Symmetric keys and payment tokens")
struct TokenTests {
    let server = DecryptorTestServer()
    let key = P256.KeyAgreement.PrivateKey()

    @Test("A symmetric key is restored from an ephemeral public key, whether the private key is in the cache or not")
    func symmetricKey() async throws {
        let hash = server.addKey(key: key)
        let ephemeral = P256.KeyAgreement.PrivateKey()
        let expected = try SymmetricKeyDerivation.symmetricKey(
            sharedSecret: ephemeral.sharedSecretFromKeyAgreement(with: key.publicKey),
            merchantIdentifier: DecryptorTestServer.merchant.rawValue)
        let body = #"{"ephemeralPublicKey":"\#(ephemeral.publicKey.derRepresentation.base64EncodedString())"}"#
        try await server.serve { _ in
            for _ in 0..<3 {
                let reply = try await server.ask("POST", "/v1/keys/\(hash.base64URL)/symmetric-key", body)
                #expect(reply.status == 200)
                #expect(reply.fields["cache-control"] == "no-store")
                let base64 = expected.withUnsafeBytes { Data($0).base64EncodedString() }
                #expect(reply.text == #"{"symmetricKey":"\#(base64)"}"#)
            }
            try await server.store.move(hash, to: .revoked)
            #expect(
                try await server.ask("POST", "/v1/keys/\(hash.base64URL)/symmetric-key", body).status
                    == 410)
        }
    }

    @Test("A symmetric key is restored from a wrapped key")
    func wrappedKey() async throws {
        let hash = server.addKey(algorithm: .rsaV1)
        let body = #"{"wrappedKey":"\#(Data(repeating: 65, count: 256).base64EncodedString())"}"#
        try await server.serve { _ in
            let reply = try await server.ask("POST", "/v1/keys/\(hash.base64URL)/symmetric-key", body)
            #expect(reply.text == #"{"symmetricKey":"QUFBQUFBQUFBQUFBQUFBQQ=="}"#)
        }
    }

    @Test(
        "A malformed request is 400 and names the error",
        arguments: [
            ("", "empty body"), ("{", "the end"), ("[]", "an array"), ("{}", "neither"),
            (#"{"ephemeralPublicKey":"AA==","wrappedKey":"AA=="}"#, "both"), (#"{"ephemeralPublicKey":"*"}"#, "Base64"),
            (#"{"ephemeralPublicKey":1}"#, "a number"), (#"{"ephemeralPublicKey":"AA==","more":1}"#, "'more'"),
            (#"{"ephemeralPublicKey":"AA==","ephemeralPublicKey":"AA=="}"#, "twice"), ("{\"\u{0}\":1}", "control"),
            (#"{"ephemeralPublicKey":"AA=="}"#, "curve"),
        ])
    func malformed(body: String, word: String) async throws {
        let hash = server.addKey(key: key)
        try await server.serve { _ in
            let reply = try await server.ask("POST", "/v1/keys/\(hash.base64URL)/symmetric-key", body)
            #expect(reply.status == 400)
            #expect(reply.text.contains(word))
        }
    }

    @Test("The material of an RSA token is refused for an EC key")
    func otherAlgorithm() async throws {
        let hash = server.addKey(key: key)
        try await server.serve { _ in
            let reply = try await server.ask(
                "POST", "/v1/keys/\(hash.base64URL)/symmetric-key", #"{"wrappedKey":"AA=="}"#)
            #expect(reply.status == 422)
            #expect(reply.text.contains("tokenKeyMismatch"))
        }
    }

    /// The response to a decrypt, except for `paymentData`, which the test compares as text.
    private struct Decrypted: Decodable {
        let plaintext: String
        let verification: VerificationDocument
        let publicKeyHash: String
        let merchantIdentifier: String
    }

    @Test("The response to a decrypt has the plaintext byte for byte and the checks, and the audit has the action")
    func decrypt() async throws {
        let hash = server.addKey(key: key)
        let token = try MintedToken(to: key.publicKey, applicationData: "order 7")
        let expected =
            #"{"merchantIdentifier":"\#(DecryptorTestServer.merchant)","currencyCode":"840","transactionAmount":1099,"applicationData":"\#(Data("order 7".utf8).base64EncodedString())"}"#
        let request = token.request(expected: expected)
        try await server.serve { _ in
            let reply = try await server.ask("POST", "/v1/payment-tokens/decrypt", request)
            #expect(reply.status == 200)
            #expect(reply.fields["cache-control"] == "no-store")
            #expect(reply.text.hasPrefix(#"{"paymentData":\#(MintedToken.plaintext),"plaintext":""#))
            let decrypted = try JSONDecoder().decode(Decrypted.self, from: Data(reply.body))
            #expect(Data(base64Encoded: decrypted.plaintext) == Data(MintedToken.plaintext.utf8))
            #expect(decrypted.publicKeyHash == hash.base64)
            #expect(decrypted.merchantIdentifier == DecryptorTestServer.merchant.rawValue)
            #expect(!decrypted.verification.verified)
            #expect(
                decrypted.verification.checks.map { "\($0.check) \($0.outcome)" } == [
                    "signature notChecked", "merchantIdentifier passed", "currencyCode passed",
                    "transactionAmount passed", "applicationData passed", "replay notChecked",
                ])
            #expect(server.store.audit.map(\.action) == [.tokenDecryptedUnverified])
            #expect(server.store.audit.first?.requestId == reply.fields["x-request-id"])
        }
    }

    @Test(
        "A token with applicationData is decrypted where none is expected, and the check is notChecked",
        arguments: [#","verify":false"#, ""])
    func unexpectedApplicationData(fields: String) async throws {
        server.addKey(key: key)
        let token = try MintedToken(to: key.publicKey, applicationData: "order 7", signedAt: server.clock.now)
        try await server.serve { _ in
            func decrypt(_ expected: String) async throws -> SocketClient.Reply {
                try await server.ask(
                    "POST", "/v1/payment-tokens/decrypt",
                    token.request(
                        expected: #"{"merchantIdentifier":"\#(DecryptorTestServer.merchant)"\#(expected)}"#, fields))
            }
            let wrong = try await decrypt(#","applicationData":"\#(Data("order 8".utf8).base64EncodedString())""#)
            #expect(wrong.status == 422 && wrong.text.contains("tokenMismatch"))
            let reply = try await decrypt("")
            #expect(reply.status == 200, "\(reply.text)")
            #expect(reply.text.contains(#""check":"applicationData","outcome":"notChecked""#))
        }
    }

    @Test(
        "A token with another value than expected is refused with both values and without the plaintext",
        arguments: [
            (
                #"{"merchantIdentifier":"merchant.com.example.other"}"#, "tokenMerchantMismatch",
                "merchant.com.example.other"
            ),
            (#"{"merchantIdentifier":"any","currencyCode":"978"}"#, "tokenMismatch", "found 840, expected 978"),
            (#"{"merchantIdentifier":"any","transactionAmount":"1098"}"#, "tokenMismatch", "found 1099, expected 1098"),
            (#"{"merchantIdentifier":"any","applicationData":"AA=="}"#, "tokenMismatch", "found none"),
        ])
    func mismatch(expected: String, code: String, words: String) async throws {
        server.addKey(key: key)
        let request = try MintedToken(to: key.publicKey).request(expected: expected)
        try await server.serve { _ in
            let reply = try await server.ask("POST", "/v1/payment-tokens/decrypt", request)
            #expect(reply.status == 422)
            #expect(reply.text.contains(#""code":"\#(code)""#))
            #expect(reply.text.contains(words))
            #expect(!reply.text.contains("4817499130210000"))
        }
        #expect(server.store.audit.isEmpty)
    }

    @Test("A token whose signature does not verify is refused with the reason, unless verification is declined")
    func notVerified() async throws {
        server.addKey(key: key)
        let token = try MintedToken(to: key.publicKey)
        try await server.serve { _ in
            for fields in ["", #","verify":true"#] {
                let reply = try await server.ask("POST", "/v1/payment-tokens/decrypt", token.request(fields))
                #expect(reply.status == 422)
                #expect(reply.text.contains("tokenNotVerified") && reply.text.contains("structure"))
                #expect(!reply.text.contains("plaintext"))
            }
            let reply = try await server.ask(
                "POST", "/v1/payment-tokens/verify", #"{"paymentData":\#(token.paymentData)}"#)
            #expect(reply.status == 200)
            #expect(reply.text.contains(#""verified":false"#))
        }
    }

    @Test(
        "A malformed decrypt request is 400 and names the error",
        arguments: [
            (#"{"expected":{"merchantIdentifier":"any"}}"#, "'paymentData'"), (#"{"paymentData":{}}"#, "'expected'"),
            (#"{"paymentData":"x","expected":{"merchantIdentifier":"any"}}"#, "a string"),
            (#"{"paymentData":{},"expected":{}}"#, "merchantIdentifier"),
            (#"{"paymentData":{},"expected":{"merchantIdentifier":"shop"}}"#, "merchantIdentifier"),
            (#"{"paymentData":{},"expected":{"merchantIdentifier":"any","amount":1}}"#, "'expected.amount'"),
            (#"{"paymentData":{},"expected":{"merchantIdentifier":"any"},"when":1}"#, "'when'"),
            (#"{"paymentData":{},"expected":{"merchantIdentifier":"any","transactionAmount":1.5}}"#, "minor units"),
            (#"{"paymentData":{},"expected":{"merchantIdentifier":"any","transactionAmount":true}}"#, "a boolean"),
            (#"{"paymentData":{},"expected":{"merchantIdentifier":"any","currencyCode":"USD"}}"#, "three digits"),
            (#"{"paymentData":{},"expected":{"merchantIdentifier":"any","applicationData":"?"}}"#, "applicationData"),
            (#"{"paymentData":{},"expected":{"merchantIdentifier":"any"},"receivedAt":"now"}"#, "receivedAt"),
            (#"{"paymentData":{},"expected":{"merchantIdentifier":"any"},"verify":false,"claim":true}"#, "claim"),
            (#"{"paymentData":{},"expected":{"merchantIdentifier":"any"},"claim":1}"#, "'claim'"),
            (#"{"paymentData":{},"expected":{"merchantIdentifier":"any"},"view":"all"}"#, "'authorization'"),
            (#"{"paymentData":{},"expected":{"merchantIdentifier":"any"},"verify":null}"#, "'verify' is null"),
            (#"{"paymentData":{},"expected":{"merchantIdentifier":"any"},"claim":null}"#, "'claim' is null"),
            (
                #"{"paymentData":{},"expected":{"merchantIdentifier":"any","transactionAmount":null}}"#,
                "'expected.transactionAmount' is null"
            ),
        ])
    func malformedDecrypt(body: String, word: String) async throws {
        try await server.serve { _ in
            let reply = try await server.ask("POST", "/v1/payment-tokens/decrypt", body)
            #expect(reply.status == 400)
            #expect(reply.text.contains(word))
        }
    }

    @Test("An expected amount may be written as 1099.0, and null in the token counts as absent")
    func otherSpellings() async throws {
        server.addKey(key: key)
        var token = try MintedToken(to: key.publicKey, signedAt: server.clock.now)
        token.paymentData = token.paymentData.replacing(
            #""publicKeyHash""#, with: #""applicationData":null,"publicKeyHash""#)
        let request = token.request(
            expected: #"{"merchantIdentifier":"any","transactionAmount":1099.0}"#, #","transactionIdentifier":1"#)
        let whole =
            #"{"paymentData":{"paymentData":\#(token.paymentData),"transactionIdentifier":null}"#
            + #","expected":{"merchantIdentifier":"any","transactionAmount":1.099e3}}"#
        try await server.serve { _ in
            #expect(try await server.ask("POST", "/v1/payment-tokens/decrypt", request).status == 400, "another field")
            let reply = try await server.ask("POST", "/v1/payment-tokens/decrypt", whole)
            #expect(reply.status == 200, "\(reply.text)")
            #expect(reply.text.contains(#""check":"transactionAmount","outcome":"passed""#))
        }
    }

    @Test("A malformed token gets 422, a token to a revoked key 410, and a token to an unknown key 404")
    func tokens() async throws {
        let hash = server.addKey(.revoked, key: key)
        let revoked = try MintedToken(to: key.publicKey).request()
        let unknown = try MintedToken(to: P256.KeyAgreement.PrivateKey().publicKey).request()
        try await server.serve { _ in
            let statuses = try await server.client { client in
                try [#"{"paymentData":{},"expected":{"merchantIdentifier":"any"},"verify":false}"#, revoked, unknown]
                    .map { try client.ask("POST", "/v1/payment-tokens/decrypt", $0).status }
            }
            #expect(statuses == [422, 410, 404])
            try await server.store.move(hash, to: .retiring)
            #expect(try await server.ask("POST", "/v1/payment-tokens/decrypt", revoked).status == 200)
        }
    }
}

extension MintedToken {
    fileprivate func request(_ more: String) -> String {
        request(expected: #"{"merchantIdentifier":"any"}"#, more)
    }
}
