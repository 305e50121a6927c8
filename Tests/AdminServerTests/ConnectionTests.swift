import AdminServer
import Foundation
import Glibc
import LocalSocket
import MerchantCore
import MerchantTestSupport
import Testing
import Vocabulary

@Suite struct ConnectionTests {
    @Test("a repeated request with its Idempotency-Key creates nothing; another request with the key is refused")
    func idempotency() async throws {
        try await TestServer.run { server in
            let path = "/v1/merchants/merchant.com.example.shop/keys"
            let added = try await server.addTwoMerchants()
            let key = ["Idempotency-Key: 2f1c-9"]
            let first = try await server.curl("POST", path, "{}", headers: key)
            let again = try await server.curl("POST", path, "{}", headers: key)
            #expect(first.status == 201 && again.status == 201)
            #expect(first.string("publicKeyHash") == again.string("publicKeyHash"))
            #expect(first.body == again.body && first.headers["location"] == again.headers["location"])
            let reused = try await server.curl("POST", path, #"{"algorithm": "RSA_v1"}"#, headers: key)
            #expect(reused.status == 422 && reused.string("code") == "idempotencyKeyReused")
            // With another path, the same key belongs to another request.
            let elsewhere = try await server.curl("POST", "/v1/merchants/\(added.other)/keys", "{}", headers: key)
            #expect(elsewhere.status == 201 && elsewhere.string("publicKeyHash") != first.string("publicKeyHash"))
            // Another spelling of the same path is the same request.
            let spelled = try await server.curl(
                "POST", path.replacing("shop", with: "sho%70"), "{}", headers: key)
            #expect(spelled.string("publicKeyHash") == first.string("publicKeyHash"))
            for bad in [
                ["Idempotency-Key: \(String(repeating: "x", count: 256))"], ["Idempotency-Key: naïve"],
                ["Idempotency-Key;"], ["Idempotency-Key: a", "Idempotency-Key: b"],
            ] {
                let refused = try await server.curl("POST", path, "{}", headers: bad)
                #expect(refused.status == 400 && refused.text.contains("Idempotency-Key"), "\(bad)")
            }
        }
    }

    @Test(
        "a repeated key generation for a removed merchant is refused as for an unknown merchant",
        arguments: ["EC_v1", "RSA_v1"])
    func idempotencyAfterRemoval(algorithm: String) async throws {
        try await TestServer.run { server in
            let merchant = "/v1/merchants/merchant.com.example.removed"
            let (body, key) = (#"{"algorithm": "\#(algorithm)"}"#, ["Idempotency-Key: 2f1c-9"])
            let added = try await server.curl(
                "POST", "/v1/merchants", #"{"merchantIdentifier": "merchant.com.example.removed"}"#)
            let first = try await server.curl("POST", "\(merchant)/keys", body, headers: key)
            #expect(added.status == 201 && first.status == 201)
            let hash = try #require(first.string("publicKeyHash").flatMap { PublicKeyHash(anySpelling: $0) })
            let generated = "/v1/keys/\(hash.hex)"
            let revoked = try await server.curl("POST", "\(generated)/revoke", #"{"reason": "compromised"}"#)
            let destroyed = try await server.curl("POST", "\(generated)/destroy", #"{"afterSeconds": 0}"#)
            #expect(revoked.status == 200 && destroyed.status == 200)
            #expect(try await server.curl("DELETE", merchant).status == 200)
            let again = try await server.curl("POST", "\(merchant)/keys", body, headers: key)
            #expect(again.status == 404 && again.string("code") == "merchantNotFound")
        }
    }

    @Test(
        "a connection is closed after its response where HTTP/1.0 or the client requires it, and otherwise stays open",
        arguments: [
            ("1.0", "", 1), ("1.0", "Connection: keep-alive\r\n", 2), ("1.1", "Connection: Close\r\n", 1),
            ("1.1", "", 2),
        ])
    func ends(version: String, header: String, answers: Int) async throws {
        try await TestServer.run { server in
            let request = "GET /v1/health HTTP/\(version)\r\nHost: x\r\n\(header)\r\n"
            let answer = await RawConnection.exchange(request + request, with: server.socket)
            #expect(answer.components(separatedBy: "HTTP/1.1 200 ").count == answers + 1, "\(answer)")
        }
    }

    @Test("the pipelined requests of many concurrent connections are all answered in the order of the requests")
    func concurrent() async throws {
        try await TestServer.run { server in
            _ = try await server.addTwoMerchants()
            let requestsPerConnection = 20
            let template =
                "POST /v1/merchants/merchant.com.example.%@/keys HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"
            for name in 0..<32 {
                _ = try await server.curl(
                    "POST", "/v1/merchants", #"{"merchantIdentifier": "merchant.com.example.\#(name)"}"#)
            }
            let answers = await withTaskGroup(of: String.self) { group in
                for name in 0..<32 {
                    let request = template.replacing("%@", with: "\(name)")
                    group.addTask {
                        await RawConnection.exchange(
                            String(repeating: request, count: requestsPerConnection)
                                + "GET /v1/merchants/merchant.com.example.\(name) HTTP/1.1\r\nHost: x\r\n\r\n",
                            with: server.socket)
                    }
                }
                return await group.reduce(into: [String]()) { $0.append($1) }
            }
            var hashes: Set<Substring> = []
            for answer in answers {
                let created = answer.matches(of: /"publicKeyHash":"([^"]+)"/).map(\.1)
                #expect(created.count == requestsPerConnection)
                #expect(answer.components(separatedBy: "HTTP/1.1 201 ").count == requestsPerConnection + 1)
                #expect(answer.hasSuffix(#""targetActiveKeyPairs":2}"#))
                hashes.formUnion(created)
            }
            #expect(hashes.count == 32 * requestsPerConnection)
        }
    }

    @Test("a connection beyond its user's share gets 503 and is closed, until another one closes")
    func shareOfOneUser() async throws {
        let (opened, keep) = AsyncStream.makeStream(of: CInt.self)
        try await TestServer.run { server in
            for _ in 0..<224 { keep.yield(try #require(RawConnection.open(server.socket))) }
            keep.finish()
            let refused = await RawConnection.exchange("GET /v1/health HTTP/1.1\r\n\r\n", with: server.socket)
            #expect(refused.hasPrefix("HTTP/1.1 503 ") && refused.contains(#""code":"overloaded""#), "\(refused)")
            #expect(refused.contains("uid \(getuid()) ") && refused.contains(" 224 "), "\(refused)")
            for await descriptor in opened { close(descriptor) }
            var status = 503
            while status == 503 { status = try await server.curl("GET", "/v1/health").status }
            #expect(status == 200)
        }
    }

    @Test("the socket has its mode and replaces the socket of a process that ended")
    func socketFile() async throws {
        try await TestServer.run(mode: 0o660, overStaleSocket: true) { server in
            var found = stat()
            #expect(lstat(server.socket, &found) == 0 && found.st_mode == S_IFSOCK | 0o660)
            let health = try await server.curl("GET", "/v1/health")
            #expect(health.status == 200)
        }
    }

    @Test("a socket path that is too long ends the server with an error that names the limit")
    func pathTooLong() async throws {
        let fault = await #expect(throws: SocketFault.self) {
            try await TestServer.run(socketName: String(repeating: "s", count: 108)) { _ in }
        }
        #expect(fault?.description.contains("expected 1 to 107") == true)
    }

    @Test("a connection beyond the share of callers without a permit gets 503 and is closed, until another one closes")
    func withoutPermit() async throws {
        let (opened, keep) = AsyncStream.makeStream(of: CInt.self)
        try await TestServer.run(policy: TestServer.policy([])) { server in
            for _ in 0..<16 { keep.yield(try #require(RawConnection.open(server.socket))) }
            keep.finish()
            let refused = await RawConnection.exchange("GET /v1/health HTTP/1.1\r\n\r\n", with: server.socket)
            #expect(refused.hasPrefix("HTTP/1.1 503 ") && refused.contains("\"code\":\"overloaded\""), "\(refused)")
            for await descriptor in opened { close(descriptor) }
            var status = 503
            while status == 503 { status = try await server.curl("GET", "/v1/health").status }
            #expect(status == 200)
        }
    }

    @Test("a shutdown completes while idle connections are open")
    func idleConnections() async throws {
        let (opened, keep) = AsyncStream.makeStream(of: CInt.self)
        try await TestServer.run { server in
            for _ in 0..<3 { keep.yield(try #require(RawConnection.open(server.socket))) }
            keep.finish()
            #expect(try await server.curl("GET", "/v1/health").status == 200)
        }
        for await descriptor in opened { close(descriptor) }
    }

    @Test("a shutdown closes a connection on which part of a request's head has arrived, without a response")
    func partialHead() async throws {
        let (opened, keep) = AsyncStream.makeStream(of: CInt.self)
        try await TestServer.run { server in
            let descriptor = try #require(RawConnection.open(server.socket))
            keep.yield(descriptor)
            keep.finish()
            let whole = "GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n"
            #expect(RawConnection.send(Data((whole + "GET /v1/heal").utf8), to: descriptor))
            let response = RawConnection.receive(from: descriptor) { $0.last == UInt8(ascii: "}") }
            #expect(response.starts(with: Data("HTTP/1.1 200 ".utf8)))
        }
        for await descriptor in opened {
            #expect(RawConnection.receive(from: descriptor) == Data())
            close(descriptor)
        }
    }

    @Test("at a shutdown a client that keeps sending requests gets every response, the last with Connection: close")
    func keepsAsking() async throws {
        let (lastResponses, last) = AsyncStream.makeStream(of: String.self)
        try await TestServer.run { server in
            let descriptor = try #require(RawConnection.open(server.socket))
            let (responses, response) = AsyncStream.makeStream(of: Void.self)
            Thread.detachNewThread {
                var text = ""
                repeat {
                    let isSent = RawConnection.send(
                        Data("GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n".utf8), to: descriptor)
                    let received = RawConnection.receive(from: descriptor) { $0.last == UInt8(ascii: "}") }
                    text = isSent ? String(decoding: received, as: UTF8.self).lowercased() : "not sent"
                    response.yield()
                } while text.hasPrefix("http/1.1 200 ") && !text.contains("connection: close")
                let rest = RawConnection.receive(from: descriptor)
                close(descriptor)
                last.yield(text + String(decoding: rest, as: UTF8.self))
                last.finish()
            }
            // The shutdown begins after the first response.
            for await _ in responses { break }
        }
        for await text in lastResponses {
            #expect(text.hasPrefix("http/1.1 200 ") && text.contains("connection: close") && text.hasSuffix("}"))
        }
    }
}
