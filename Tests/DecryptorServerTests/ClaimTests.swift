import Crypto
import DecryptorServer
import FoundationEssentials
import MerchantCore
import MerchantOperations
import MerchantTestSupport
import PaymentToken
import Synchronization
import Testing
import Vocabulary

@Suite("Claims of payment tokens")
struct ClaimTests {
    static let expected =
        #"{"merchantIdentifier":"\#(DecryptorTestServer.merchant)","currencyCode":"840","transactionAmount":"1099"}"#

    let server = DecryptorTestServer()
    let key = P256.KeyAgreement.PrivateKey()

    init() { server.addKey(key: key) }

    func token(payment: UInt8 = 1, signedAfter seconds: Int = 0) throws -> MintedToken {
        try MintedToken(to: key.publicKey, payment: payment, signedAt: server.clock.now.adding(.seconds(seconds)))
    }

    func decrypt(_ request: String, key: String? = nil) async throws -> SocketClient.Reply {
        try await server.client {
            try $0.ask(
                "POST", "/v1/payment-tokens/decrypt", request,
                fields: key.map { "Idempotency-Key: \($0)\r\n" } ?? "")
        }
    }

    @Test(
        "A verified decrypt claims unless declined; a payment is claimed once, in any letter case of its transactionId")
    func once() async throws {
        let token = try token(payment: 0xAB)
        try await server.serve { _ in
            let unclaimed = try await decrypt(token.request(expected: Self.expected, #","claim":false"#))
            #expect(unclaimed.status == 200 && unclaimed.text.contains(#""check":"replay","outcome":"notChecked""#))
            #expect(server.claims.count == 0)
            let won = try await decrypt(token.request(expected: Self.expected, ""))
            #expect(won.status == 200 && won.text.contains(#""check":"replay","outcome":"passed""#))
            #expect(won.text.contains(#""verified":true"#))
            for fields in ["", #","claim":true"#] {
                let lost = try await decrypt(token.request(expected: Self.expected, fields))
                #expect(lost.status == 409 && lost.text.contains("tokenAlreadyClaimed"))
                #expect(!lost.text.contains("plaintext"))
            }
            let id = String(repeating: "ab", count: 32)
            var upper = token
            upper.paymentData = token.paymentData.replacing(id, with: id.uppercased())
            #expect(upper.paymentData != token.paymentData)
            #expect(try await decrypt(upper.request(expected: Self.expected, "")).status == 409)
        }
    }

    @Test("A token that is refused for any reason claims nothing: the genuine one can still be decrypted")
    func refusedClaimsNothing() async throws {
        let genuine = try token()
        let noise = try MintedToken(to: key.publicKey, payment: 1)
        var tampered = genuine
        let data = #""data":"A"#
        tampered.paymentData =
            genuine.paymentData.contains(data)
            ? genuine.paymentData.replacing(data, with: #""data":"B"#)
            : genuine.paymentData.replacing(/"data":"./, with: data)
        let requests: [(what: String, request: String, code: String)] = [
            ("signature", noise.request(expected: Self.expected, ""), "tokenNotVerified"),
            ("data", tampered.request(expected: Self.expected, ""), "tokenNotVerified"),
            (
                "merchant",
                genuine.request(expected: #"{"merchantIdentifier":"\#(DecryptorTestServer.otherMerchant)"}"#, ""),
                "tokenMerchantMismatch"
            ),
            (
                "amount",
                genuine.request(
                    expected: #"{"merchantIdentifier":"\#(DecryptorTestServer.merchant)","transactionAmount":1098}"#, ""
                ),
                "tokenMismatch"
            ),
            (
                "application data",
                genuine.request(
                    expected: #"{"merchantIdentifier":"\#(DecryptorTestServer.merchant)","applicationData":"AA=="}"#, ""
                ),
                "tokenMismatch"
            ),
            ("old", try token(signedAfter: -301).request(expected: Self.expected, ""), "tokenNotVerified"),
            ("of the future", try token(signedAfter: 301).request(expected: Self.expected, ""), "tokenNotVerified"),
        ]
        try await server.serve { _ in
            for (what, request, code) in requests {
                let reply = try await decrypt(request)
                #expect(reply.status == 422 && reply.text.contains(#""code":"\#(code)""#), "\(what): \(reply.text)")
                #expect(server.claims.count == 0, "\(what)")
            }
            #expect(try await decrypt(genuine.request(expected: Self.expected, "")).status == 200)
        }
    }

    @Test("A repeat with the same Idempotency-Key gets the plaintext again; another key gets 409, and another body 422")
    func repeats() async throws {
        let token = try token()
        let request = token.request(expected: Self.expected, "")
        let other = try self.token(payment: 2).request(expected: Self.expected, "")
        try await server.serve { _ in
            let first = try await decrypt(request, key: "order 7")
            let again = try await decrypt(request, key: "order 7")
            #expect(first.status == 200 && again.status == 200)
            #expect(again.text.contains("by an earlier attempt of this request"))
            let plaintext = Data(MintedToken.plaintext.utf8).base64EncodedString()
            #expect(first.text.contains(plaintext) && again.text.contains(plaintext))
            #expect(try await decrypt(request, key: "order 8").status == 409)
            #expect(try await decrypt(request).status == 409)
            let reused = try await decrypt(other, key: "order 7")
            #expect(reused.status == 422 && reused.text.contains("idempotencyKeyReused"))
            let sameToken = try await decrypt(request.replacing(#""840""#, with: #" "840""#), key: "order 7")
            #expect(sameToken.status == 422 && sameToken.text.contains("idempotencyKeyReused"))
            #expect(try await decrypt(other, key: "order 9").status == 200)
        }
        #expect(server.claims.count == 2)
    }

    @Test(
        "A repeat is answered even after the token's time, as its first attempt was in time; other requests are refused"
    )
    func lateRepeat() async throws {
        let request = try token().request(expected: Self.expected, "")
        try await server.serve { _ in
            #expect(try await decrypt(request, key: "k").status == 200)
            server.clock.advance(by: .seconds(400))
            #expect(try await decrypt(request, key: "k").status == 200)
            for key in [nil, "other"] {
                let refused = try await decrypt(request, key: key)
                #expect(refused.status == 422 && refused.text.contains("signingTime"))
            }
        }
    }

    @Test("An Idempotency-Key that contains the token's transactionId, in any letter case, is 400 and claims nothing")
    func derivedKey() async throws {
        let request = try token(payment: 0xAB).request(expected: Self.expected, "")
        let id = String(repeating: "ab", count: 32)
        try await server.serve { _ in
            for key in [id, id.uppercased(), "pay-\(id)-1", String(repeating: "aB", count: 32)] {
                let reply = try await decrypt(request, key: key)
                #expect(reply.status == 400 && reply.text.contains("malformed"))
                #expect(!reply.text.contains("plaintext\":"))
            }
            #expect(server.claims.count == 0)
            // Another token's transactionId says nothing about this one.
            #expect(try await decrypt(request, key: String(repeating: "ac", count: 32)).status == 200)
        }
    }

    @Test(
        "An invalid Idempotency-Key is 400",
        arguments: ["", String(repeating: "k", count: 256), "a\r\nIdempotency-Key: b"])
    func malformedKey(key: String) async throws {
        let request = try token().request(expected: Self.expected, "")
        try await server.serve { _ in
            let reply = try await decrypt(request, key: key)
            #expect(reply.status == 400 && reply.text.contains("Idempotency-Key"))
        }
        #expect(server.claims.count == 0)
    }

    @Test(
        "While claims cannot be stored, a decrypt that claims is 503 without the plaintext; one without a claim works")
    func failingClaims() async throws {
        let token = try token()
        server.claims.fail(MerchantError(.storeUnavailable, "the disk is full"))
        try await server.serve { _ in
            let refused = try await decrypt(token.request(expected: Self.expected, ""))
            #expect(refused.status == 503 && refused.text.contains("storeUnavailable"))
            #expect(refused.fields["retry-after"] != nil)
            #expect(!refused.text.contains("plaintext"))
            #expect(try await decrypt(token.request(expected: Self.expected, #","claim":false"#)).status == 200)
            #expect(server.operations.monitoring.healthFindings().map(\.code) == [.claimsRefused])
            server.claims.fail(nil)
            #expect(try await decrypt(token.request(expected: Self.expected, "")).status == 200)
            #expect(server.operations.monitoring.healthFindings().isEmpty)
        }
    }

    @Test func `a clock that is behind the newest claim is a critical finding with all times and the remedy`() throws {
        let times = (0..<3).map { Timestamp(millisecondsSince1970: 1_795_237_200_000 + Int64($0) * 86_400_000) }
        server.claims.report(
            ClockBehindClaims(newestClaim: times[2], since: times[0], until: times[1], removal: "remove the claims"))
        let finding = try #require(server.operations.monitoring.healthFindings().first)
        #expect(finding.code == .claimsRefused && finding.severity == .critical)
        for time in times { #expect(finding.detail.contains("\(time)")) }
        #expect(finding.detail.contains("remove the claims"))
        server.claims.report(nil)
        #expect(server.operations.monitoring.healthFindings().isEmpty)
    }

    @Test("Where the audit cannot be written, requests that need a record are refused and claim nothing")
    func failingAudit() async throws {
        let token = try token()
        server.store.failure.withLock { $0 = MerchantError(.storeUnavailable, "the disk is full") }
        try await server.serve { _ in
            let refused = try await decrypt(token.request(expected: #"{"merchantIdentifier":"any"}"#, ""))
            #expect(refused.status == 503 && !refused.text.contains("plaintext"))
            #expect(server.claims.count == 0)
            #expect(try await decrypt(token.request(expected: Self.expected, "")).status == 200)
        }
    }

    @Test(
        "The view of an authorization message has the network's own fields",
        arguments: [
            (
                "4817499130210000", "3DSecure",
                #""authorization":{"network":"general","primaryAccountNumber":"4817499130210000","expirationDate":"281231","cryptogram":"AAAAAAAAAAAAAAAAAAAAAAAAAAA="}"#
            ),
            (
                "370000000000002", "3DSecure",
                #""authorization":{"network":"americanExpress","primaryAccountNumber":"370000000000002","expirationDate":"281231","tokenBlockA":"AAAAAAAAAAAAAAAAAAAAAAAAAAA=","tokenBlockB":"AAAAAAAAAAAAAAAAAAAAAAAAAAA=","tokenRequestorID":"040010030273"}"#
            ),
        ])
    func authorization(number: String, type: String, member: String) async throws {
        let plaintext = MintedToken.plaintext.replacing("4817499130210000", with: number)
        let token = try MintedToken(to: key.publicKey, plaintext: plaintext, signedAt: server.clock.now)
        try await server.serve { _ in
            let reply = try await decrypt(token.request(#","claim":false,"view":"authorization""#))
            #expect(reply.status == 200 && reply.text.contains(member), "\(reply.text)")
            #expect(try JSONParserCheck.isObject(reply.body))
            let plain = try await decrypt(token.request(#","claim":false"#))
            #expect(!plain.text.contains(#""authorization""#))
        }
    }

    @Test("A payment that is not a 3DSecure payment is decrypted without a view of an authorization message")
    func noAuthorization() async throws {
        let plaintext = MintedToken.plaintext.replacing("onlinePaymentCryptogram", with: "emvData")
            .replacing("3DSecure", with: "EMV")
        let token = try MintedToken(to: key.publicKey, plaintext: plaintext, signedAt: server.clock.now)
        try await server.serve { _ in
            let reply = try await decrypt(token.request(#","claim":false,"view":"authorization""#))
            #expect(reply.status == 200 && !reply.text.contains(#""authorization""#))
        }
    }
}

/// Checks with Foundation's parser that bytes are one JSON object; throws if they are not.
enum JSONParserCheck {
    private struct Anything: Decodable {
        init(from decoder: any Decoder) throws { _ = try decoder.container(keyedBy: Key.self) }
    }
    private struct Key: CodingKey {
        let stringValue: String
        let intValue: Int? = nil
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    static func isObject(_ bytes: [UInt8]) throws -> Bool {
        _ = try JSONDecoder().decode(Anything.self, from: Data(bytes))
        return true
    }
}

extension MintedToken {
    fileprivate func request(_ more: String) -> String {
        request(expected: #"{"merchantIdentifier":"\#(DecryptorTestServer.merchant)"}"#, more)
    }
}
