import AppleGateway
import Crypto
import Foundation
import MerchantCore
import MerchantTestSupport
import NIOHTTP1
import Testing
import Vocabulary

/// Calls of the Merchant Token Management API over TLS.
@Suite struct MerchantTokenTests {
    let fixture: GatewayFixture
    let token: MerchantTokenIdentifier
    let eventIdentifier: MerchantTokenEventIdentifier
    let merchant = GatewayFixture.merchant

    init() throws {
        fixture = try GatewayFixture.shared.get()
        token = try #require(MerchantTokenIdentifier(text: "DAPLMC0000123"))
        eventIdentifier = try #require(MerchantTokenEventIdentifier(text: "event-1.a_b~"))
    }

    private static let base = "/paymentservices/v1/merchantId/platformintegrator.com.example/merchantToken"

    /// Runs a site with one reply, and a gateway that calls it.
    private func withReply(
        _ status: Int, _ body: [UInt8] = [], headers: [String: String] = [:], attempts: Int = 1,
        eventMethod: AppleGateway.EventMethod = .get, requests: Guarded<[TestSite.Request]> = Guarded([]),
        _ test: (AppleGateway) async throws -> Void
    ) async throws {
        try await withSite(fixture) { request in
            requests.update { $0.append(request) }
            return .answer(status, headers, body)
        } _: { site in
            let gateway = try fixture.gateway(
                "https://localhost:\(site.port)", fixture.files("good"), attempts: attempts, waits: Guarded([]),
                eventMethod: eventMethod)
            try await withGateway(gateway, test)
        }
    }

    private func event(_ gateway: AppleGateway) async throws(GatewayError) -> MerchantTokenEvent {
        try await gateway.event(eventIdentifier, of: merchant, as: .platform)
    }

    /// The event that the gateway reads from a response with status 200.
    private func event(from body: String) async throws -> MerchantTokenEvent {
        let found = Guarded<MerchantTokenEvent?>(nil)
        try await withReply(200, Array(body.utf8)) { gateway in found.value = try await event(gateway) }
        return try #require(found.value)
    }

    static let flat = """
        {"eventType": "UNLINK", "merchantTokenIdentifier": "DAPLMC0000123", "reason": "UNLINKDEVICE", "new": [null],
         "merchantTokenMetadata": {"cardMetadata": {"cardCountry": "DE", "expirationDate": "2812", "fpanSuffix": "1234",
           "longDescription": "Größe Card", "shortDescription": "Card"},
          "cardArt": [{"name": "n", "type": "image/png", "url": "https://127.0.0.1:1/art.png"}]}}
        """

    @Test(arguments: AppleGateway.EventMethod.allCases, [false, true])
    func `an event is read with either HTTP method, whether another object contains it or not`(
        method: AppleGateway.EventMethod, isWrapped: Bool
    ) async throws {
        let requests = Guarded<[TestSite.Request]>([])
        let body = isWrapped ? "{\"statusCode\": \"200\", \"merchantTokenEvent\": \(Self.flat)}" : Self.flat
        try await withReply(200, Array(body.utf8), eventMethod: method, requests: requests) { gateway in
            let found = try await event(gateway)
            #expect(found.type == "UNLINK")
            #expect(found.merchantTokenIdentifier == token)
            #expect(found.reason == "UNLINKDEVICE")
            #expect(
                found.card
                    == MerchantTokenCard(
                        cardCountry: "DE", expirationDate: "2812", fpanSuffix: "1234", longDescription: "Größe Card",
                        shortDescription: "Card",
                        cardArt: [.init(name: "n", type: "image/png", url: "https://127.0.0.1:1/art.png")]))
            #expect(found.encryptedMetadata == nil)
        }
        let head = try #require(requests.value.first?.head)
        #expect(requests.value.count == 1)
        #expect(head.method == (method == .get ? .GET : .POST))
        #expect(head.uri == "\(Self.base)/event/event-1.a_b~")
        #expect(head.headers["Content-Type"] == ["application/json"])
        #expect(head.headers["x-request-id"].first.flatMap { UUID(uuidString: $0) } != nil)
    }

    @Test func `unknown event types are kept, and texts over Apple's limits are shortened or dropped`() async throws {
        let long = String(repeating: "é", count: 300)
        let found = try await event(
            from: """
                {"eventType": "SOMETHING_NEW", "merchantTokenIdentifier": "DAPLMC0000123", "reason": "\(long)\\u001b",
                 "merchantTokenMetadata": {"cardMetadata": {"cardCountry": "DEU", "expirationDate": "123456789",
                   "fpanSuffix": "4111111111111111", "longDescription": "a\\n\(long)", "shortDescription": "\(long)"},
                  "cardArt": [{"name": "", "type": "t", "url": "u"}, {"name": "n", "type": "t"}, 7, null,
                   {"name": "n", "type": "t", "url": "\(String(repeating: "u", count: 129))"},
                   {"name": "n", "type": 1, "url": "u"}, {"name": "ok", "type": "t", "url": "u"}]}}
                """)
        #expect(found.type == "SOMETHING_NEW")
        #expect(found.reason == String(repeating: "é", count: 256))
        let card = try #require(found.card)
        #expect(card.cardCountry == nil && card.expirationDate == nil && card.fpanSuffix == nil)
        #expect(card.longDescription == "a?" + String(repeating: "é", count: 126))
        #expect(card.shortDescription?.count == 64)
        #expect(card.cardArt == [.init(name: "ok", type: "t", url: "u")])
    }

    @Test(arguments: [
        "", "[]", "null", "<html></html>", "{}", "{\"merchantTokenEvent\": {}}",
        #"{"eventType": "UNLINK", "reason": "x"}"#, #"{"merchantTokenIdentifier": "a", "reason": "x"}"#,
        #"{"eventType": "", "merchantTokenIdentifier": "a"}"#, #"{"eventType": 1, "merchantTokenIdentifier": "a"}"#,
        #"{"eventType": "A\u0007", "merchantTokenIdentifier": "a"}"#,
        "{\"eventType\": \"\(String(repeating: "A", count: 65))\", \"merchantTokenIdentifier\": \"a\"}",
        "{\"eventType\": \"UNLINK\", \"merchantTokenIdentifier\": \"\(String(repeating: "A", count: 65))\"}",
        #"{"eventType": "UNLINK", "merchantTokenIdentifier": "a/b"}"#,
        #"{"eventType": "UNLINK", "eventType": "UNLINK", "merchantTokenIdentifier": "a"}"#,
        "{\"eventType\": \"UNLINK\", \"merchantTokenIdentifier\": \"a\", \"x\": \"\(String(repeating: "A", count: 300_000))\"}",
        "{\"eventType\": \"UNLINK\", \"merchantTokenIdentifier\": \"a\", \"x\": \(String(repeating: "[", count: 5000))}",
    ])
    func `a body that is no event is refused`(body: String) async throws {
        try await withReply(200, Array(body.utf8)) { gateway in
            let found = await failure { () throws(GatewayError) in _ = try await event(gateway) }
            #expect(found?.kind == .unexpectedResponse, "\(String(describing: found))")
            #expect(found?.mayHaveActed == false)
        }
    }

    @Test(arguments: ["ephemeralPublicKey", "wrappedKey"], [false, true])
    func `encrypted metadata is found by its members under any name, in the event and in its metadata`(
        key: String, isInMetadata: Bool
    ) async throws {
        let encrypted = #"{"data":"AA==","\#(key)":"BB==","publicKeyHash":"CC==","signature":"DD==","version":1.50}"#
        // Not encrypted metadata: the signature is missing.
        let other = #"{"data":"AA==","publicKeyHash":"CC==","\#(key)":"BB=="}"#
        let field = #""decoy": \#(other), "unpublishedName": \#(encrypted)"#
        let found = try await event(
            from: """
                {"eventType": "UPDATED_METADATA", "merchantTokenIdentifier": "DAPLMC0000123", "reason": "r",
                 \(isInMetadata ? "\"merchantTokenMetadata\": {\(field)}" : field)}
                """)
        #expect(found.encryptedMetadata.map { String(decoding: $0, as: UTF8.self) } == encrypted)
        #expect(found.card == nil)
    }

    @Test(arguments: [204, 200])
    func `the calls that change a token send Apple's fields to Apple's paths`(status: Int) async throws {
        let requests = Guarded<[TestSite.Request]>([])
        try await withReply(status, requests: requests) { gateway in
            try await gateway.unlink(token, of: merchant, as: .platform)
            try await gateway.setNotificationURL(
                "https://pay.example.com/tokenapi/s", of: token, of: merchant, as: .platform)
            try await gateway.notifyUsageInformation(of: token, of: merchant, as: .platform)
        }
        let field = #""merchantTokenIdentifier":"DAPLMC0000123""#
        let expected = [
            ("unlink", "{\(field)}"),
            (
                "updateMerchantMetadata",
                #"{"merchantMetadata":{"tokenNotificationURL":"https://pay.example.com/tokenapi/s"},\#(field)}"#
            ),
            ("notify", "{\(field)}"),
        ]
        #expect(requests.value.map(\.head.uri) == expected.map { "\(Self.base)/\($0.0)" })
        #expect(requests.value.map { String(decoding: $0.body, as: UTF8.self) } == expected.map(\.1))
        for head in requests.value.map(\.head) {
            #expect(head.method == .POST)
            #expect(head.headers["Content-Type"] == ["application/json"])
            #expect(head.headers["x-request-id"].count == 1)
        }
    }

    @Test func `a token's public key is read; with status 202 there is none yet`() async throws {
        let point = P384.KeyAgreement.PrivateKey().publicKey.x963Representation
        let suite = "HPKE_AUTH_P384_SHA384_AES_GCM_256"
        func body(_ key: String, _ suite: String) -> [UInt8] {
            Array(
                #"{"merchantTokenPublicKey": "\#(key)", "statusCode": 200, "supportedCiphersuite": "\#(suite)"}"#.utf8)
        }
        try await withReply(200, body(point.base64EncodedString(), suite)) { gateway in
            let found = try await gateway.publicKey(of: token, of: merchant, as: .platform)
            #expect(found == MerchantTokenPublicKey(x963: Array(point), ciphersuite: suite))
        }
        try await withReply(202, Array(#"{"statusCode": 202}"#.utf8)) { gateway in
            let found = try await gateway.publicKey(of: token, of: merchant, as: .platform)
            #expect(found == nil)
        }
        let invalid = [
            body("AAAA", suite), body(point.dropLast().base64EncodedString(), suite), body("?", suite), [],
            body(point.base64EncodedString(), ""), body(point.base64EncodedString(), String(repeating: "x", count: 65)),
        ]
        for body in invalid {
            try await withReply(200, body) { gateway in
                let found = await failure { () throws(GatewayError) in
                    _ = try await gateway.publicKey(of: token, of: merchant, as: .platform)
                }
                #expect(found?.kind == .unexpectedResponse)
            }
        }
    }

    private enum Call: CaseIterable {
        case event, unlink, setNotificationURL, publicKey, notify
    }

    private func perform(_ call: Call, _ gateway: AppleGateway) async throws(GatewayError) {
        switch call {
        case .event: _ = try await event(gateway)
        case .unlink: try await gateway.unlink(token, of: merchant, as: .platform)
        case .setNotificationURL:
            try await gateway.setNotificationURL("https://a.example", of: token, of: merchant, as: .platform)
        case .publicKey: _ = try await gateway.publicKey(of: token, of: merchant, as: .platform)
        case .notify: try await gateway.notifyUsageInformation(of: token, of: merchant, as: .platform)
        }
    }

    static let statuses: [(Int, GatewayError.Kind)] = [
        (400, .refused), (401, .unauthorized), (403, .forbidden), (404, .notFound), (409, .conflict),
        (417, .platformNotRegistered), (429, .rateLimited), (500, .failedAtApple), (302, .unexpectedResponse),
        (418, .unexpectedResponse),
    ]

    @Test(
        arguments: statuses,
        [
            #"{"errorMessage": "m1", "statusCode": 400, "subStatusCode": 7}"#,
            #"{"statusMessage": "m1", "statusCode": "400", "subStatusCode": "7"}"#,
        ])
    func `each status has its error for every call, with Apple's message and codes`(
        row: (status: Int, kind: GatewayError.Kind), body: String
    ) async throws {
        try await withReply(row.status, Array(body.utf8)) { gateway in
            for call in Call.allCases {
                let found = await failure { () throws(GatewayError) in try await perform(call, gateway) }
                // After a 429, the gateway refuses the next calls without a request, so their errors have no status.
                guard row.kind != .rateLimited || found?.status != nil else { continue }
                #expect(found?.kind == row.kind, "\(String(describing: found))")
                #expect(found?.detail.contains("'m1'") == true && found?.detail.contains("subStatusCode 7") == true)
            }
        }
    }

    @Test(arguments: [false, true])
    func `event and unlink are repeated if Apple fails, with or without a response`(isAnswered: Bool) async throws {
        let requests = Guarded(0)
        try await withSite(fixture) { _ in
            requests.update { $0 += 1 }
            return isAnswered ? .answer(500, [:], []) : .reset
        } _: { site in
            let gateway = try fixture.gateway(
                "https://localhost:\(site.port)", fixture.files("good"), attempts: 3, waits: Guarded([]))
            try await withGateway(gateway) { gateway in
                let read = await failure { () throws(GatewayError) in _ = try await event(gateway) }
                #expect(read?.kind == (isAnswered ? .failedAtApple : .responseNotReceived))
                #expect(read?.mayHaveActed == false)
                #expect(requests.value == 3)
                let unlinked = await failure { () throws(GatewayError) in
                    try await gateway.unlink(token, of: merchant, as: .platform)
                }
                #expect(unlinked?.uncertainAttempts == 3)
                #expect(requests.value == 6)
            }
        }
    }

    @Test func `a response with status 200 whose body is a web page is refused`() async throws {
        try await withReply(200, Array("<html></html>".utf8)) { gateway in
            let found = await failure { () throws(GatewayError) in
                try await gateway.unlink(token, of: merchant, as: .platform)
            }
            #expect(found?.kind == .unexpectedResponse)
            #expect(found?.mayHaveActed == true)
        }
    }

    @Test func `a merchant identifier over Apple's limit is refused without a request`() async throws {
        let long = try #require(MerchantIdentifier("merchant." + String(repeating: "x", count: 56)))
        let requests = Guarded<[TestSite.Request]>([])
        try await withReply(204, requests: requests) { gateway in
            let found = await failure { () throws(GatewayError) in
                try await gateway.unlink(token, of: long, as: .platform)
            }
            #expect(found?.kind == .refused)
            #expect(requests.value.isEmpty)
        }
    }
}
