import AdminServer
import Foundation
import MerchantCore
import MerchantTestSupport
import Testing
import Vocabulary

@Suite("Events on the admin socket")
struct EventTests {
    private static func kinds(_ reply: Reply) throws -> [String] {
        try (reply.json()["items"] as? [[String: any Sendable]] ?? []).compactMap { $0["kind"] as? String }
    }

    private static func sequences(_ reply: Reply) throws -> [Int] {
        try (reply.json()["items"] as? [[String: any Sendable]] ?? []).compactMap { $0["sequence"] as? Int }
    }

    private static func append(_ server: TestServer, _ kind: Event.Kind = .rollWaiting) async throws {
        let event = Event(kind, .notice, at: server.clock.now, detail: "something happened")
        try await server.repository.write { try $0.append(event) }
    }

    @Test("storing a certificate, promoting and revoking each append an event, and so does falling below the target")
    func led() async throws {
        try await TestServer.run { server in
            let added = try await server.addTwoMerchants()
            let key = "/v1/keys/\(added.key.base64URL)"
            let other = try await server.curl("POST", "/v1/merchants/\(added.merchant)/keys").string("publicKeyHash")
            let second = try #require(PublicKeyHash(anySpelling: other ?? ""))
            for hash in [added.key, second] {
                _ = try await server.curl("POST", "/v1/certificates", "CERT:\(hash.hex):\(added.merchant)")
            }
            // A repeated call and a dry run change nothing, so they append no event.
            _ = try await server.curl("POST", "/v1/certificates", "CERT:\(added.key.hex):\(added.merchant)")
            _ = try await server.curl("POST", "\(key)/promote", #"{"dryRun": true}"#)
            for _ in 0..<2 { _ = try await server.curl("POST", "\(key)/promote") }
            for path in ["/v1/keys/\(second.base64URL)", key] {
                let reply = try await server.curl("POST", "\(path)/revoke", #"{"reason": "compromised"}"#)
                #expect(reply.status == 200, "\(reply.text)")
            }
            let reply = try await server.curl("GET", "/v1/events")
            #expect(
                try Self.kinds(reply) == [
                    "certificateStored", "certificateStored", "keyPromoted", "keyRevoked", "belowTarget", "keyRevoked",
                    "belowTarget",
                ])
            let items = try #require(try reply.json()["items"] as? [[String: any Sendable]])
            #expect(items.allSatisfy { $0["merchantIdentifier"] as? String == added.merchant.rawValue })
            #expect(items[2]["publicKeyHash"] as? String == added.key.base64)
            #expect(
                items.map { $0["severity"] as? String }.suffix(4) == ["critical", "notice", "critical", "critical"])
            #expect((items[4]["detail"] as? String)?.contains("1 of 2") == true)
        }
    }

    @Test("pages, 'after', 'newest' and filters return each event once, sorted by sequence")
    func pages() async throws {
        try await TestServer.run { server in
            for number in 0..<7 { try await Self.append(server, number % 2 == 0 ? .rollWaiting : .rollFinished) }
            let first = try await server.curl("GET", "/v1/events?limit=3")
            #expect(try Self.sequences(first) == [1, 2, 3] && first.string("nextCursor") == "3")
            let second = try await server.curl("GET", "/v1/events?limit=4&cursor=3")
            #expect(try Self.sequences(second) == [4, 5, 6, 7] && second.string("nextCursor") == nil)
            #expect(try Self.sequences(await server.curl("GET", "/v1/events?after=5")) == [6, 7])
            #expect(try Self.sequences(await server.curl("GET", "/v1/events?newest=true&limit=2")) == [6, 7])
            #expect(try Self.sequences(await server.curl("GET", "/v1/events?kind=rollFinished")) == [2, 4, 6])
            #expect(try Self.sequences(await server.curl("GET", "/v1/events?severity=critical")) == [])
            for query in [
                "after=1&cursor=1", "after=-1", "after=x", "newest=1", "newest=true&after=1", "wait=31", "wait=x",
                "kind=keyrevoked", "severity=bad", "merchant=x", "limit=0",
            ] {
                #expect(try await server.curl("GET", "/v1/events?\(query)").status == 400, "\(query)")
            }
        }
    }

    @Test(
        "a waiting caller gets a response at an event, an empty one after its time, and an immediate one at a shutdown")
    func waiting() async throws {
        try await TestServer.run { server in
            let begin = ContinuousClock.now
            let empty = try await server.curl("GET", "/v1/events?wait=1")
            #expect(try Self.sequences(empty) == [] && ContinuousClock.now - begin > .milliseconds(900))
            async let answer = server.curl("GET", "/v1/events?wait=20&kind=rollFinished")
            try await Task.sleep(for: .milliseconds(200))
            // An event of another kind does not end the wait.
            try await Self.append(server, .rollWaiting)
            try await Task.sleep(for: .milliseconds(100))
            try await Self.append(server, .rollFinished)
            #expect(try Self.sequences(await answer) == [2])
            #expect(ContinuousClock.now - begin < .seconds(15))
        }
        let begin = ContinuousClock.now
        let answered = Answered()
        try await TestServer.run { server in
            answered.task = Task { try await server.curl("GET", "/v1/events?wait=30").status }
            try await Task.sleep(for: .milliseconds(400))
        }
        #expect(try await answered.task?.value == 200)
        #expect(ContinuousClock.now - begin < .seconds(15))
    }

    private final class Answered: @unchecked Sendable {
        // Proof for @unchecked Sendable: set before the server stops, read after.
        var task: Task<Int, any Error>?
    }

    @Test("key pairs are listed by state, in pages; a prefix and a state exclude each other")
    func byState() async throws {
        try await TestServer.run { server in
            let added = try await server.addTwoMerchants()
            let first = try await server.curl("GET", "/v1/keys?state=pending&limit=1")
            #expect(first.text.contains(added.key.base64) && first.string("nextCursor") == added.key.base64URL)
            let second = try await server.curl("GET", "/v1/keys?state=pending&cursor=\(added.key.base64URL)")
            #expect(second.text.contains(added.otherKey.base64) && second.string("nextCursor") == nil)
            #expect(try await server.curl("GET", "/v1/keys?state=current").text == #"{"items":[]}"#)
            for query in [
                "", "?state=new", "?state=pending&prefix=abcd", "?prefix=abcd&cursor=\(added.key.base64URL)",
                "?state=pending&cursor=\(PublicKeyHash(of: [9]).base64URL)",
            ] {
                #expect(try await server.curl("GET", "/v1/keys\(query)").status == 400, "\(query)")
            }
        }
    }
}
