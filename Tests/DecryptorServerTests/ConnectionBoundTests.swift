import DecryptorServer
import FoundationEssentials
import Glibc
import LocalSocket
import MerchantTestSupport
import NIOCore
import Testing
import Vocabulary

@Suite("A connection's limits")
struct ConnectionBoundTests {
    let server = DecryptorTestServer()

    @Test("A body beyond the limit is 413 and closes the connection", arguments: [true, false])
    func tooLarge(isChunked: Bool) async throws {
        let hash = server.addKey()
        try await server.serve { _ in
            let target = "/v1/keys/\(hash.base64URL)/symmetric-key"
            let body = String(repeating: " ", count: 65_537)
            let (reply, after) = try await server.client { client in
                if isChunked {
                    client.send("POST \(target) HTTP/1.1\r\nHost: d\r\nTransfer-Encoding: chunked\r\n\r\n")
                    client.send("10001\r\n\(body)\r\n0\r\n\r\n")
                } else {
                    client.send(SocketClient.request("POST", target, body))
                }
                return (try client.reply(), try client.reply())
            }
            #expect(reply?.status == 413)
            #expect(reply?.fields["connection"] == "close")
            #expect(after == nil)
            // One byte less is accepted and parsed.
            #expect(try await server.ask("POST", target, String(body.dropLast())).status == 400)
        }
    }

    @Test(
        "A request that breaks HTTP's rules gets a problem document, and the connection is closed",
        arguments: HTTPRuleCase.refused)
    func brokenRules(_ example: HTTPRuleCase) async throws {
        try await server.serve { _ in
            let (reply, after) = try await server.client { client in
                client.send(example.bytes)
                return (try client.reply(), try client.reply())
            }
            #expect(reply?.status == example.status)
            #expect(reply?.fields["content-type"] == "application/problem+json")
            #expect(reply?.fields["connection"] == "close")
            #expect(after == nil)
        }
    }

    @Test(
        "A request that ends its connection is answered, and the connection is closed",
        arguments: HTTPRuleCase.answeredOnce)
    func answeredOnce(_ example: HTTPRuleCase) async throws {
        try await server.serve { _ in
            let (reply, after) = try await server.client { client in
                client.send(example.bytes)
                return (try client.reply(), try client.reply())
            }
            #expect(reply?.status == example.status)
            #expect(reply?.fields["connection"] == "close")
            #expect(after == nil)
        }
    }

    @Test("A caller without a permit gets one refusal for each connection, whatever it pipelines")
    func oneRefusal() async throws {
        try await server.serve(policy: DecryptorTestServer.policy([])) { _ in
            let (reply, after) = try await server.client { client in
                client.send(String(repeating: SocketClient.request("GET", "/v1/health"), count: 100))
                return (try client.reply(), try client.reply())
            }
            #expect(reply?.status == 403)
            #expect(reply?.fields["connection"] == "close")
            #expect(after == nil)
        }
    }

    @Test(
        "200 pipelined requests are answered in the order of the requests, and then a malformed one is refused")
    func manyPipelined() async throws {
        try await server.serve { _ in
            let (statuses, after) = try await server.client { client in
                for number in 0..<200 {
                    client.send(SocketClient.request("GET", number % 2 == 0 ? "/v1/health" : "/none"))
                }
                client.send("GET /v1/health HTTP/1.1\r\n\r\n")
                let statuses = try (0...200).map { _ in try client.reply()?.status }
                return (statuses, try client.reply())
            }
            #expect(statuses == (0..<200).map { $0 % 2 == 0 ? 200 : 404 } + [400])
            #expect(after == nil)
        }
    }

    @Test(
        "A request that does not arrive in time is 408, wherever it stops",
        arguments: [
            "G", "GET /v1/health HTTP/1.1\r\nHost: d",
            "POST /v1/payment-tokens/decrypt HTTP/1.1\r\nHost: d\r\nContent-Length: 9\r\n\r\n{",
        ])
    func slowLoris(text: String) async throws {
        var limits = Limits()
        limits.requestTime = .milliseconds(150)
        try await server.serve(limits: limits) { _ in
            let (replies, took) = try await server.client { client in
                let start = ContinuousClock.now
                client.send(SocketClient.request("GET", "/v1/health"))
                let health = try client.reply()
                client.send(text)
                return ([health, try client.reply(), try client.reply()], ContinuousClock.now - start)
            }
            #expect(replies.map { $0?.status } == [200, 408, nil])
            #expect(took < .seconds(5))
        }
    }

    @Test("A request that arrives byte by byte is refused in time")
    func drip() async throws {
        var limits = Limits()
        limits.requestTime = .milliseconds(200)
        try await server.serve(limits: limits) { _ in
            let sent = try await server.client { client in
                var sent = 0
                while sent < 200, client.send("G") {
                    sent += 1
                    usleep(10_000)
                }
                return sent
            }
            #expect(sent < 200)
        }
    }

    @Test("An idle connection is closed after the idle time, one that waits for its response is not")
    func idle() async throws {
        let rsa = server.addKey(algorithm: .rsaV1)
        let slow = DecryptorTestServer.slowRequest(rsa)
        var limits = Limits()
        limits.idleTime = .milliseconds(100)
        try await server.serve(limits: limits) { _ in
            #expect(try await server.client { try $0.reply() } == nil)
            let gate = server.closeGate()
            let status = try await server.client { client in
                client.send(slow)
                usleep(400_000)
                gate.open()
                return try client.reply()?.status
            }
            #expect(status == 200)
        }
    }

    @Test("A connection beyond the limit gets 503 with Retry-After; after another one closes, a new one is served")
    func connectionBound() async throws {
        var limits = Limits()
        limits.connections.total = 3
        try await server.serve(limits: limits) { _ in
            let path = server.socketPath
            let refused = try await server.blocking {
                let open = try (0..<3).map { _ in try SocketClient(path) }
                for client in open { #expect(try client.ask("GET", "/v1/health").status == 200) }
                let further = try SocketClient(path)
                let reply = try further.reply()
                #expect(try further.reply() == nil)
                for client in open { #expect(try client.ask("GET", "/v1/health").status == 200) }
                return reply
            }
            #expect(refused?.status == 503)
            #expect(refused?.fields["retry-after"] == "1")
            #expect(refused?.fields["connection"] == "close")
            var status = 503
            while status == 503 { status = try await server.ask("GET", "/v1/health").status }
            #expect(status == 200)
        }
    }

    @Test("Callers without a permit share a few connections, however many others are free")
    func withoutPermit() async throws {
        var limits = Limits()
        limits.connections.withoutPermit = 2
        try await server.serve(limits: limits, policy: DecryptorTestServer.policy([])) { _ in
            let path = server.socketPath
            let statuses = try await server.blocking {
                let open = try (0..<2).map { _ in try SocketClient(path) }
                return try withExtendedLifetime(open) {
                    let admitted = try open.map { try $0.ask("GET", "/v1/health").status }
                    return (admitted, try SocketClient(path).reply()?.status)
                }
            }
            #expect(statuses.0 == [403, 403])
            #expect(statuses.1 == 503)
        }
    }

    @Test(
        "Requests beyond the limit of waiting requests get 503 with Retry-After; those that need not wait are answered")
    func waitingBound() async throws {
        let rsa = server.addKey(algorithm: .rsaV1)
        let hash = server.addKey()
        let slow = DecryptorTestServer.slowRequest(rsa)
        var limits = Limits()
        limits.waitingRequests = 2
        try await server.serve(limits: limits) { _ in
            _ = try await server.ask("GET", "/v1/keys/\(hash.base64URL)")
            let gate = server.closeGate()
            let path = server.socketPath
            let (third, quick, waited) = try await server.blocking {
                let first = try SocketClient(path)
                first.send(slow + slow + slow)
                first.send(SocketClient.request("GET", "/v1/keys/\(hash.base64URL)"))
                gate.awaitArrivals(2)
                let other = try SocketClient(path)
                let quick = try other.ask("GET", "/v1/keys/\(hash.base64URL)")
                gate.open()
                let replies = try (0..<4).map { _ in try first.reply() }
                return (replies[2], quick, [replies[0], replies[1], replies[3]].map { $0?.status })
            }
            #expect(third?.status == 503)
            #expect(third?.fields["retry-after"] == "1")
            #expect(quick.status == 200)
            #expect(waited == [200, 200, 200])
        }
    }
}
