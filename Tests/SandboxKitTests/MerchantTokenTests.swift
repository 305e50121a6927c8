import Foundation
import MerchantTestSupport
import SandboxKit
import Testing
import Vocabulary

/// Merchant tokens of `applepay-sandbox serve`.
@Suite(
    .enabled(
        if: Programs.hasOpenSSL && Programs.hasPythonCryptography,
        "openssl, python3 or its package cryptography is not installed"))
final class MerchantTokenTests: ServedGateway {
    private static let token = "DAPLMC0001"

    private var own: String { fixture.merchant.rawValue }

    private func tokenPath(_ operation: String, _ merchant: String? = nil, service: String = "paymentservices")
        -> String
    {
        "/\(service)/v1/merchantId/\(merchant ?? own)/merchantToken/\(operation)"
    }

    private func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
    }

    /// Creates an event through the control socket, and returns its identifier.
    private func addEvent(_ further: [String: Any] = [:]) throws -> String {
        let fields = ["merchantIdentifier": own, "merchantTokenIdentifier": Self.token, "eventType": "UNLINK"].merging(
            further
        ) { $1 }
        let body = String(decoding: try JSONSerialization.data(withJSONObject: fields), as: UTF8.self)
        let answer = try object(try control("POST", "/merchant-tokens/events", body))
        return try #require(answer["eventId"] as? String, "\(answer)")
    }

    private func call(
        _ operation: String, _ fields: [String: Any]? = nil, merchant: String? = nil, identity: String = "good",
        service: String = "paymentservices"
    ) throws -> Answer {
        let body = try fields.map { String(decoding: try JSONSerialization.data(withJSONObject: $0), as: UTF8.self) }
        return try request(
            tokenPath(operation, merchant, service: service), body, identity: identity, "-H", "x-request-id: 1", "-H",
            "Content-Type: application/json")
    }

    @Test func `an event is returned for GET and POST, for both spellings of the path, flat or wrapped`() throws {
        try start()
        let flat = try addEvent(["reason": "USER", "merchantTokenMetadata": ["cardMetadata": ["fpanSuffix": "1111"]]])
        let answer = try call("event/\(flat)")
        #expect(
            answer.body
                == #"{"eventType":"UNLINK","merchantTokenIdentifier":"DAPLMC0001","merchantTokenMetadata":{"cardMetadata":{"fpanSuffix":"1111"}},"reason":"USER"}"#
        )
        #expect(try call("event/\(flat)", [:], service: "paymentServices").body == answer.body)
        let wrapped = try addEvent(["reason": "USER", "wrapped": true])
        #expect(
            try call("event/\(wrapped)").body
                == #"{"statusCode":200,"merchantTokenEvent":{"eventType":"UNLINK","merchantTokenIdentifier":"DAPLMC0001","reason":"USER"}}"#
        )
        let document = try object(try control("GET", "/merchant-tokens/events/\(flat)"))
        #expect(document["fetches"] as? Int == 2 && document["notifications"] as? [String] == [])
    }

    @Test func `an event of another merchant, an unknown event and a missing header are refused with 400`() throws {
        try start("--wrap-token-events")
        try createIdentity("platform", of: "platformintegrator.com.example.sandbox")
        let event = try addEvent()
        #expect(try call("event/\(event)", identity: "platform").status == 200)
        let other = "merchant.com.example.other"
        for answer in [
            try call("event/\(event)", merchant: other),
            try call("event/\(event)", merchant: other, identity: "platform"),
            try call("event/\(try addEvent(["merchantIdentifier": other, "merchantTokenIdentifier": "x"]))"),
            try call("event/unknown"), try request(tokenPath("event/\(event)"), identity: "good"),
            try call("event/\(event)", merchant: String(repeating: "m", count: 65)),
        ] {
            let error = try object(answer.body)
            #expect(answer.status == 400 && error["statusCode"] as? Int == 400, "\(answer)")
            #expect(error["errorMessage"] is String && error["subStatusCode"] is Int)
        }
    }

    @Test func `the calls that change or read a token have Apple's statuses`() throws {
        try start()
        let token = ["merchantTokenIdentifier": Self.token]
        for operation in ["unlink", "publicKey", "notify"] {
            #expect(try call(operation, token).status == (operation == "unlink" ? 400 : 404), "\(operation)")
        }
        let stored = #"{"merchantIdentifier":"\#(own)","merchantTokenIdentifier":"DAPLMC0001","publicKeyReady":false}"#
        #expect(try control("POST", "/merchant-tokens", stored) == "")
        #expect(try call("publicKey", token).status == 409)
        let metadata = { (url: String) -> [String: Any] in
            ["merchantTokenIdentifier": Self.token, "merchantMetadata": ["tokenNotificationURL": url]]
        }
        #expect(try call("updateMerchantMetadata", metadata("https://x.example/tokens")).status == 204)
        #expect(try call("updateMerchantMetadata", metadata(String(repeating: "x", count: 257))).status == 400)
        #expect(try call("publicKey", token).status == 202)
        #expect(try control("POST", "/merchant-tokens", stored.replacing("false", with: "true")) == "")
        let key = try object(try call("publicKey", token).body)
        #expect(Data(base64Encoded: key["merchantTokenPublicKey"] as? String ?? "")?.count == 97)
        #expect(key["supportedCiphersuite"] as? String == "HPKE_AUTH_P384_SHA384_AES_GCM_256")
        try createIdentity("other", of: "merchant.com.example.other")
        #expect(try call("publicKey", token, identity: "other").status == 403)
        #expect(try call("notify", token).status == 200)
        for _ in 1...2 { #expect(try call("unlink", token).status == 204) }
        let tokens = try #require(try object(try control("GET", "/merchant-tokens"))["items"] as? [[String: Any]])
        #expect(tokens.first?["state"] as? String == "unlinked" && tokens.first?["usageNotifications"] as? Int == 1)
        #expect(tokens.first?["tokenNotificationURL"] as? String == "https://x.example/tokens")
    }

    @Test(arguments: [(["200"], 1), (["500", "503", "200"], 3), (["500"], 4), (["404", "200"], 2)])
    func `a notification is repeated at once, at most three times, until the status is 200`(
        statuses: [String], count: Int
    ) throws {
        try start()
        let credentials = try fixture.authority.issueServerCredentials(
            names: ["localhost"].compactMap(SandboxServerName.init), notBefore: SandboxFixture.now)
        try fixture.scratch.write(credentials.certificate, "merchant.pem")
        try fixture.scratch.write(credentials.privateKey, "merchant.key")
        let script = try #require(
            Bundle.module.url(forResource: "notification_receiver", withExtension: "py", subdirectory: "Scripts"))
        let receiver = try ChildProcess(
            ["python3", script.path, path("merchant.pem"), path("merchant.key"), path("paths")] + statuses,
            output: .file(path("receiver.out")))
        defer { receiver.killAndWait() }
        let port = try receiver.firstLine(in: path("receiver.out"))
        let event = try addEvent(["tokenNotificationURL": "https://localhost:\(port)/tokenapi/"])
        var results: [String] = []
        let end = ContinuousClock.now + .seconds(20)
        while results.count < count, ContinuousClock.now < end {
            results =
                try object(try control("GET", "/merchant-tokens/events/\(event)"))["notifications"] as? [String] ?? []
        }
        #expect(results == (0..<count).map { statuses[min($0, statuses.count - 1)] })
        let paths = try String(contentsOfFile: path("paths"), encoding: .utf8).split(separator: "\n")
        #expect(paths.count == count)
        #expect(paths.allSatisfy { $0 == "/tokenapi/notification/merchantToken/\(event)" }, "\(paths)")
    }

    @Test(arguments: SandboxFixture.Key.allCases)
    func `openssl verifies the signature of encrypted metadata, and Python decrypts it`(
        key: SandboxFixture.Key
    ) throws {
        let certificate = try fixture.certificate(key)
        var metadata = TokenMetadata()
        metadata.mpanIdentifier = "mpan-2"
        for isValid in [true, false] {
            let json = try fixture.authority.encryptedTokenMetadata(
                metadata, certificate: certificate, signingTime: SandboxFixture.now, hasValidSignature: isValid)
            let fields = try #require(try object(json) as? [String: String])
            let keyField = key == .ec ? "ephemeralPublicKey" : "wrappedKey"
            #expect(Set(fields.keys) == ["data", keyField, "publicKeyHash", "signature"])
            func bytes(_ field: String) throws -> Data { try #require(Data(base64Encoded: fields[field] ?? "")) }
            let verified = try Programs.openssl(
                "cms", "-verify", "-binary", "-inform", "DER", "-in",
                fixture.scratch.write(Array(bytes("signature")), "signature"), "-content",
                fixture.scratch.write(Array(bytes(keyField) + bytes("data")), "content"), "-CAfile", path("root.pem"),
                "-purpose", "any", "-out", path("verified"))
            #expect((verified.status == 0) == isValid, "\(verified.error)")

            // The encryption is that of a payment token.
            let token: [String: Any] = [
                "version": key.algorithm.rawValue, "data": fields["data"] ?? "",
                "header": [keyField: fields[keyField], "publicKeyHash": fields["publicKeyHash"]],
            ]
            let script = try #require(
                Bundle.module.url(forResource: "decrypt_tokens", withExtension: "py", subdirectory: "Scripts"))
            let line = try JSONSerialization.data(withJSONObject: ["paymentData": token])
            let decrypted = try Programs.run(
                ["python3", script.path, path("\(key).key.pem"), own],
                input: String(decoding: line, as: UTF8.self) + "\n")
            try #require(decrypted.status == 0, "\(decrypted.error)")
            #expect(try object(decrypted.output)["plaintext"] as? String == metadata.plaintext)
        }
        #expect(metadata.plaintext == #"{"expirationDate":"311231","mpan":"4111111111111111","mpanId":"mpan-2"}"#)
    }

    @Test func `mint-token --merchant-token mints the payment token of a merchant token`() throws {
        let certificate = try fixture.certificate(.ec)
        var parameters = fixture.parameters()
        parameters.merchantTokenIdentifier = Self.token
        parameters.hasMerchantTokenMetadata = true
        let expected = try fixture.authority.mintToken(parameters, certificate: certificate).plaintext
        #expect(
            SandboxProgram.run([
                "mint-token", "--directory", path("apple"), "--certificate", path("ec.cer"), "--merchant-token",
                Self.token, "--out", path("token.json"),
            ]) == 0)
        let script = try #require(
            Bundle.module.url(forResource: "decrypt_tokens", withExtension: "py", subdirectory: "Scripts"))
        let decrypted = try Programs.run(
            ["python3", script.path, path("ec.key.pem"), own],
            input: String(contentsOfFile: path("token.json"), encoding: .utf8))
        let plaintext = try object(try #require(try object(decrypted.output)["plaintext"] as? String))
        #expect(plaintext["merchantTokenIdentifier"] as? String == Self.token)
        #expect(Set(plaintext.keys) == Set(try object(expected).keys))
    }
}
