import AdminServer
import Foundation
import MerchantCore
import MerchantTestSupport
import Testing
import Vocabulary

@Suite struct BadInputTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let method: String
        let path: String
        let body: Data?
        let status: Int
        let says: String

        init(_ method: String, _ path: String, _ body: String? = nil, _ status: Int, says: String) {
            self.init(method, path, data: body.map { Data($0.utf8) }, status, says: says)
        }

        init(_ method: String, _ path: String, data: Data?, _ status: Int, says: String) {
            self.method = method
            self.path = path
            body = data
            self.status = status
            self.says = says
        }

        var testDescription: String { "\(method) \(path.prefix(60)) \(says)" }
    }

    private static let hash = PublicKeyHash(of: [7])
    private static let merchant = "/v1/merchants/merchant.com.example.shop"

    /// A request for each field that accepts free text. `text` is the value of the field, escaped as in JSON.
    private static func textFields(_ text: String, says: String) -> [Case] {
        let partner = "/v1/registrations/shop"
        return [
            Case(
                "POST", "/v1/merchants", #"{"merchantIdentifier": "merchant.a", "name": "\#(text)"}"#, 400, says: says),
            Case("PATCH", merchant, #"{"name": "\#(text)"}"#, 400, says: says),
            Case(
                "POST", "/v1/registrations",
                #"{"partnerInternalMerchantIdentifier": "shop", "partnerMerchantName": "\#(text)", "domainNames": ["a.example"]}"#,
                400, says: says),
            Case("DELETE", partner, #"{"reason": "\#(text)"}"#, 400, says: says),
            Case("POST", "/v1/keys/\(hash.base64URL)/revoke", #"{"reason": "\#(text)"}"#, 400, says: says),
            Case("POST", "/v1/rolls/1/finish", #"{"now": true, "reason": "\#(text)"}"#, 400, says: says),
            Case("POST", "/v1/rolls/1/abandon", #"{"reason": "\#(text)"}"#, 400, says: says),
            Case("POST", "/v1/backups", #"{"file": "/b\#(text)"}"#, 400, says: says),
            Case("POST", "/v1/backups/verification", #"{"file": "/b\#(text)"}"#, 400, says: says),
        ]
    }

    static let cases: [Case] =
        textFields(#"\u009b"#, says: "U+009B") + textFields("\u{202E}", says: "U+202E")
        + textFields(#"a\u200bc"#, says: "U+200B") + textFields(#" \u00a0"#, says: "blank").dropLast(2) + others

    private static let others: [Case] = [
        // Bodies.
        Case("POST", "/v1/merchants", "", 400, says: "found an empty body"),
        Case("POST", "/v1/merchants", "[]", 400, says: "found an array, expected a JSON object"),
        Case("POST", "/v1/merchants", #"{"merchantIdentifier": "merchant.a""#, 400, says: "expected ',' or '}'"),
        Case("POST", "/v1/merchants", #"{"merchantIdentifier": 7}"#, 400, says: "'merchantIdentifier' is a number"),
        Case("POST", "/v1/merchants", "{}", 400, says: "'merchantIdentifier' is missing"),
        Case(
            "POST", "/v1/merchants", #"{"merchantIdentifier": "merchant.a", "merchantIdentifier": "merchant.b"}"#, 400,
            says: "'merchantIdentifier' twice"),
        Case(
            "POST", "/v1/merchants", #"{"merchantIdentifier": "merchant.a", "mood": 1}"#, 400,
            says: "unknown field 'mood'"),
        Case("POST", "/v1/merchants", #"{"merchantIdentifier": "com.a"}"#, 400, says: "not a merchant identifier"),
        Case(
            "POST", "/v1/merchants", #"{"merchantIdentifier": "merchant..a"}"#, 400, says: "not a merchant identifier"),
        Case(
            "POST", "/v1/merchants", #"{"merchantIdentifier": "merchant.a", "targetActiveKeyPairs": 17}"#, 400,
            says: "expected 0 to 16"),
        Case(
            "POST", "/v1/merchants", #"{"merchantIdentifier": "merchant.a", "targetActiveKeyPairs": 1.5}"#, 400,
            says: "expected an integer"),
        Case(
            "POST", "/v1/merchants", #"{"merchantIdentifier": "merchant.a", "name": "\u0000"}"#, 400,
            says: "contains U+0000"),
        Case(
            "POST", "/v1/merchants", data: Data(#"{"merchantIdentifier": ""#.utf8) + [0xFF, 0xFE] + Data(#""}"#.utf8),
            400, says: "not UTF-8"),
        Case(
            "POST", "/v1/merchants", String(repeating: "[", count: 30_000), 400, says: "more than 16 levels of nesting"),
        Case("POST", "/v1/merchants", String(repeating: " ", count: 65_537), 413, says: "longer than 65536 bytes"),
        Case("POST", "/v1/merchants", "{}{}", 400, says: "after the end of the JSON text"),
        Case("PATCH", merchant, "", 400, says: "found an empty body"),
        Case("PATCH", merchant, #"{"merchantIdentifier": "merchant.b"}"#, 400, says: "unknown field"),
        Case("POST", "\(merchant)/keys", #"{"algorithm": "EC_v2"}"#, 400, says: "expected one of 'EC_v1', 'RSA_v1'"),
        Case("POST", "\(merchant)/keys", #"{"purpose": "fun"}"#, 400, says: "'purpose' is 'fun'"),
        Case("POST", "\(merchant)/keys", #"{"algorithm": "EC_v1", "purpose": "identity"}"#, 422, says: "RSA_v1"),
        Case("GET", merchant, "{}", 400, says: "found a body, expected none"),

        // Imports.
        Case("POST", "\(merchant)/keys/import", "{}", 400, says: "'privateKey' is missing"),
        Case(
            "POST", "\(merchant)/keys/import", #"{"privateKey": "not Base64", "certificate": "eA=="}"#, 400,
            says: "'privateKey' is empty or not Base64"),
        Case(
            "POST", "\(merchant)/keys/import", #"{"privateKey": "eA==", "certificate": ""}"#, 400,
            says: "'certificate' is empty or not Base64"),
        Case(
            "POST", "\(merchant)/keys/import", #"{"privateKey": "eA==", "certificate": "eA==", "state": "pending"}"#,
            400, says: "expected standby, current or retiring"),
        Case(
            "POST", "\(merchant)/keys/import", #"{"privateKey": "eA==", "keyNumber": 0}"#, 400,
            says: "'keyNumber' is 0, expected 1 or more"),
        Case("POST", "/v1/keys/import", #"{"privateKey": "eA==", "keyNumber": -1}"#, 400, says: "'keyNumber' is -1"),
        Case(
            "POST", "\(merchant)/keys/import", #"{"privateKey": "eA==", "certificate": "eA=="}"#, 422,
            says: "found no certificate"),
        Case(
            "POST", "\(merchant)/keys/import", String(repeating: " ", count: 1_048_577), 413,
            says: "longer than 1048576 bytes"),

        // Certificates.
        Case("POST", "\(merchant)/certificates", "", 400, says: "found an empty body"),
        Case("POST", "\(merchant)/certificates", "rubbish", 422, says: "found no certificate"),
        Case("POST", "/v1/certificates", "KEY:\(hash.hex)", 422, says: "found a private key"),
        Case("POST", "/v1/certificates", "CERT:\(hash.hex):merchant.a", 422, says: "no key pair has"),
        Case("POST", "/v1/certificates", String(repeating: "x", count: 65_537), 413, says: "longer than"),

        // Names in paths.
        Case("GET", "/v1/merchants/com.example", nil, 400, says: "not a merchant identifier"),
        Case("GET", "/v1/merchants/", nil, 404, says: "no route matches this path"),
        Case("GET", "/v1/merchants/merchant.com.example.gone", nil, 404, says: "there is no merchant"),
        Case("GET", "/v1/merchants/merchant.%ff", nil, 400, says: "UTF-8"),
        Case("GET", "/v1/merchants/merchant.%2", nil, 400, says: "two hexadecimal digits after each '%'"),
        Case("GET", "/v1/keys/short", nil, 400, says: "not a publicKeyHash"),
        Case("GET", "/v1/keys/\(hash.hex.dropLast())", nil, 400, says: "not a publicKeyHash"),
        Case("GET", "/v1/keys/\(String(repeating: "z", count: 64))", nil, 400, says: "not a publicKeyHash"),
        Case("GET", "/v1/keys/\(hash.base64URL)=", nil, 400, says: "not a publicKeyHash"),
        Case("GET", "/v1/keys/\(hash.hex)", nil, 404, says: "there is no key pair"),
        Case("GET", "/v1/keys/\(hash.hex)/csr", nil, 404, says: "there is no key pair"),
        Case("POST", "/v1/keys/\(hash.hex)/promote", nil, 404, says: "there is no key pair"),
        Case("POST", "/v1/keys/\(hash.hex)/revoke", "", 400, says: "found an empty body"),
        Case("POST", "/v1/keys/\(hash.hex)/revoke", #"{"reason": ""}"#, 400, says: "'reason' has 0 bytes"),
        Case("POST", "/v1/keys/\(hash.hex)/destroy", #"{"afterSeconds": -1}"#, 400, says: "'afterSeconds' is -1"),
        Case(
            "POST", "/v1/keys/\(hash.hex)/destroy", #"{"afterSeconds": 9223372036854775807}"#, 400,
            says: "'afterSeconds' is"),
        Case("POST", "/v1/keys/\(hash.hex)/restore", #"{"dryRun": "yes"}"#, 400, says: "'dryRun' is a string"),

        // Queries.
        Case("GET", "/v1/merchants?page=2", nil, 400, says: "unknown query parameter 'page'"),
        Case("GET", "/v1/status?x", nil, 400, says: "unknown query parameter 'x', expected none"),
        Case("GET", "/v1/merchants?limit=0", nil, 400, says: "expected 1 to 1000"),
        Case("GET", "/v1/merchants?limit=1001", nil, 400, says: "expected 1 to 1000"),
        Case("GET", "/v1/merchants?limit=ten", nil, 400, says: "expected 1 to 1000"),
        Case("GET", "/v1/merchants?limit=", nil, 400, says: "expected 1 to 1000"),
        Case("GET", "/v1/merchants?limit=1&limit=2", nil, 400, says: "twice"),
        Case("GET", "/v1/merchants?cursor=x", nil, 400, says: "'cursor' is not a merchant identifier"),
        Case("GET", "/v1/merchants?%zz=1", nil, 400, says: "two hexadecimal digits after each '%'"),
        Case("GET", "\(merchant)/keys?cursor=\(hash.hex)", nil, 400, says: "names no key pair of this merchant"),
        Case("GET", "/v1/keys", nil, 400, says: "'prefix' is missing"),
        Case("GET", "/v1/keys?prefix=abc", nil, 400, says: "4 to 64"),
        Case("GET", "/v1/audit?cursor=-1", nil, 400, says: "'cursor' is invalid"),
        Case("GET", "/v1/audit?key=x", nil, 400, says: "'key' is not a publicKeyHash"),
        Case(
            "GET", "/v1/audit?caller=\(String(repeating: "0", count: 256))", nil, 400,
            says: "'caller' is not a caller's name"),
        Case("DELETE", "\(merchant)?dryRun=maybe", nil, 400, says: "'dryRun' is neither true nor false"),

        // Paths and methods.
        Case("GET", "/", nil, 404, says: "no route matches this path"),
        Case("GET", "//v1/merchants", nil, 404, says: "no route matches this path"),
        Case("GET", "/v1/merchants//keys", nil, 404, says: "no route matches this path"),
        Case("GET", "/V1/merchants", nil, 404, says: "no route matches this path"),
        Case("GET", "/v1/keys/ab%2Fcd/csr", nil, 400, says: "not a publicKeyHash"),
        Case("GET", "/v1/registrations/sync", nil, 404, says: "registration"),
        Case("PUT", "/v1/registrations/sync", nil, 405, says: "expected one of GET, DELETE, POST, HEAD"),
        Case("POST", "/v1/in-app-provisioning/requests", "{}", 404, says: "sockets.issuer.path"),
        Case("POST", "/v1/payment-tokens/decrypt", "{}", 404, says: "sockets.decryptor.path"),
        Case("GET", "/v1/roles", nil, 404, says: "no route matches this path"),
        Case("GET", "/v1/rolls?state=done", nil, 400, says: "'state' is 'done', expected one of 'started'"),
        Case("GET", "/v1/rolls/7", nil, 404, says: "there is no roll 7"),
        Case("POST", "/v1/rolls/x/finish", nil, 400, says: "'rollId' is not a roll's number"),
        Case("GET", "/v1/merchants/../status", nil, 404, says: "no route matches this path"),
        Case("PUT", "/v1/merchants", "{}", 405, says: "expected one of GET, POST, HEAD"),
        Case("GET", "/v1/certificates", nil, 405, says: "expected one of POST"),
        Case("OPTIONS", "/v1/status", nil, 405, says: "expected one of GET, HEAD"),
    ]

    @Test("an invalid request is refused with its status and a problem document, and changes nothing")
    func table() async throws {
        try await TestServer.run { server in
            _ = try await server.addTwoMerchants()
            let before = try await server.repository.read { try $0.counts(at: server.clock.now) }
            for bad in Self.cases {
                let reply = try await server.curl(bad.method, bad.path, bad.body)
                #expect(reply.status == bad.status, "\(bad.testDescription): \(reply.text)")
                #expect(reply.string("detail")?.contains(bad.says) == true, "\(bad.testDescription): \(reply.text)")
                #expect(reply.headers["content-type"] == "application/problem+json", "\(bad.testDescription)")
                let requestId = reply.string("requestId") ?? ""
                #expect(requestId.count == 16 && reply.headers["x-request-id"] == requestId, "\(bad.testDescription)")
            }
            let after = try await server.repository.read { try $0.counts(at: server.clock.now) }
            #expect(before == after)
        }
    }

    @Test("405 lists the path's methods in Allow")
    func allow() async throws {
        try await TestServer.run { server in
            let reply = try await server.curl("PUT", "/v1/merchants/merchant.com.example")
            #expect(reply.status == 405)
            #expect(reply.headers["allow"] == "GET, PATCH, DELETE, HEAD")
            #expect(reply.string("code") == "methodNotAllowed")
        }
    }

    @Test("a chunked body that is too long is refused")
    func chunked() async throws {
        try await TestServer.run { server in
            let body = Data(repeating: UInt8(ascii: " "), count: 200_000)
            let reply = try await server.curl("POST", "/v1/merchants", body, headers: ["Transfer-Encoding: chunked"])
            #expect(reply.status == 413)
        }
    }

    @Test("a request that ends early has no effect")
    func truncated() async throws {
        try await TestServer.run { server in
            let body = #"{"merchantIdentifier": "merchant.com.example"}"#
            let head = "POST /v1/merchants HTTP/1.1\r\nHost: x\r\n"
            let answers = [
                await RawConnection.exchange(
                    head + "Content-Length: \(body.utf8.count + 1)\r\n\r\n" + body, with: server.socket),
                await RawConnection.exchange(
                    head + "Transfer-Encoding: chunked\r\n\r\n\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n",
                    with: server.socket),
                await RawConnection.exchange(head, with: server.socket),
            ]
            for answer in answers { #expect(!answer.contains(" 201 ")) }
            let count = try await server.repository.read { try $0.counts(at: server.clock.now).merchants }
            #expect(count == 0)
        }
    }

    @Test(
        "a request that breaks HTTP's rules gets a problem document, and the connection is closed",
        arguments: HTTPRuleCase.refused)
    func brokenRules(_ example: HTTPRuleCase) async throws {
        try await TestServer.run { server in
            let answer = await RawConnection.exchange(example.bytes, with: server.socket, keepsSending: true)
            #expect(answer.hasPrefix("HTTP/1.1 \(example.status) "), "\(answer)")
            let head = answer.lowercased()
            #expect(
                head.contains("content-type: application/problem+json\r\n") && head.contains("connection: close\r\n"))
            #expect(head.matches(of: #/http/1\.1 \d+ /#).count == 1, "\(answer)")
        }
    }

    @Test(
        "a request that ends its connection is answered, and the connection is closed",
        arguments: HTTPRuleCase.answeredOnce)
    func answeredOnce(_ example: HTTPRuleCase) async throws {
        try await TestServer.run { server in
            let answer = await RawConnection.exchange(example.bytes, with: server.socket, keepsSending: true)
            #expect(answer.hasPrefix("HTTP/1.1 \(example.status) "), "\(answer)")
            #expect(answer.lowercased().contains("connection: close\r\n"), "\(answer)")
        }
    }

    @Test("earlier requests of a connection are answered before one that breaks HTTP's rules is refused")
    func brokenBehindOthers() async throws {
        try await TestServer.run { server in
            let whole = "GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n"
            let answer = await RawConnection.exchange(
                whole + whole + "GET /v1/health HTTP/1.1\r\n\r\n" + whole, with: server.socket, keepsSending: true)
            let statuses = answer.matches(of: #/HTTP/1\.1 (\d+) /#).map { String($0.1) }
            #expect(statuses == ["200", "200", "400"])
        }
    }

    @Test("a path that is not UTF-8 is refused")
    func pathNotUTF8() async throws {
        try await TestServer.run { server in
            let bytes = Data("GET /v1/merchants/merchant.".utf8) + [0xFF] + Data(" HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
            let answer = String(decoding: await RawConnection.exchange(bytes, with: server.socket), as: UTF8.self)
            #expect(answer.hasPrefix("HTTP/1.1 400 "))
        }
    }

    @Test("a client that waits for 100 Continue gets it, and then the response")
    func expectContinue() async throws {
        try await TestServer.run { server in
            let body = #"{"merchantIdentifier": "merchant.com.example"}"#
            let answer = await RawConnection.exchange(
                "POST /v1/merchants HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
                    + body, with: server.socket)
            let statuses = answer.matches(of: #/HTTP/1\.1 (\d+) /#).map { String($0.1) }
            #expect(statuses == ["100", "201"], "\(answer)")
            let refused = await RawConnection.exchange(
                "POST /v1/nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n",
                with: server.socket, keepsSending: true)
            #expect(refused.matches(of: #/HTTP/1\.1 (\d+) /#).map { String($0.1) } == ["404"], "\(refused)")
        }
    }

    @Test("the server survives requests in which random bytes were changed")
    func random() async throws {
        let seed = UInt64.random(in: .min ... .max)
        try await TestServer.run { server in
            var generator = SeededGenerator(seed: seed)
            for _ in 0..<100 {
                var bytes = Data(
                    "POST /v1/merchants HTTP/1.1\r\nHost: x\r\nContent-Length: 40\r\n\r\n{\"merchantIdentifier\":\"merchant.a\"}"
                        .utf8)
                for _ in 0..<Int.random(in: 1...6, using: &generator) {
                    bytes[Int.random(in: bytes.indices, using: &generator)] = .random(
                        in: .min ... .max, using: &generator)
                }
                _ = await RawConnection.exchange(bytes, with: server.socket)
            }
            let health = try await server.curl("GET", "/v1/health")
            #expect(health.status == 200, "seed \(seed)")
        }
    }

    @Test("the response to an internal error has its request identifier, and only the log has the cause")
    func breakdown() async throws {
        try await TestServer.run { server in
            let unlucky = FakeCustodian.unlucky
            _ = try await server.curl("POST", "/v1/merchants", #"{"merchantIdentifier": "\#(unlucky)"}"#)
            let reply = try await server.curl("POST", "/v1/merchants/\(unlucky)/keys")
            #expect(reply.status == 500)
            #expect(reply.string("code") == "internalError")
            #expect(!reply.text.contains("DEADBEEF"))
            let requestId = try #require(reply.string("requestId"))
            #expect(
                server.log.lines.contains {
                    $0.contains(requestId) && $0.contains("DEADBEEF") && $0.hasPrefix("error request failed")
                })
        }
    }
}
