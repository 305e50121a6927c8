import Crypto
import FoundationEssentials
import Glibc
import LocalSocket
import MerchantCore
import NIOCore
import ServiceLifecycle
import Synchronization
import Testing
import Vocabulary

import DecryptorServer

@Suite("Connections")
struct ConnectionTests {
    let stage = Stage()

    private static let wrapped = #"{"wrappedKey":"\#(Data(repeating: 65, count: 256).base64EncodedString())"}"#

    /// A request that waits until the custodian's gate opens.
    private func slowRequest(_ rsa: PublicKeyHash) -> String {
        SocketClient.request("POST", "/v1/keys/\(rsa.base64URL)/symmetric-key", Self.wrapped)
    }

    private func closeGate() -> Gate {
        let gate = Gate()
        stage.custodian.rsaGate.withLock { $0 = gate }
        return gate
    }

    @Test("The socket has its mode, and curl speaks to it")
    func curl() async throws {
        let hash = stage.addKey()
        try await stage.serve { _ in
            var found = stat()
            #expect(stat(stage.socketPath, &found) == 0)
            #expect(found.st_mode & 0o7777 == 0o660)
            #expect(found.st_mode & S_IFMT == S_IFSOCK)
            let path = stage.socketPath
            let output = try await stage.blocking {
                let command =
                    "curl -sS --http2 --unix-socket \(path) http://localhost/v1/keys/\(hash.base64URL) -w ' %{http_code}' 2>&1"
                guard let pipe = popen(command, "r") else { return "" }
                defer { pclose(pipe) }
                var buffer = [UInt8](repeating: 0, count: 65_536)
                return String(decoding: buffer[..<fread(&buffer, 1, buffer.count, pipe)], as: UTF8.self)
            }
            #expect(output.hasSuffix(" 200"))
            #expect(output.contains(hash.base64))
        }
        #expect(access(stage.socketPath, F_OK) != 0)
    }

    @Test("Pipelined requests are answered in order, the slow before the quick that came after it")
    func order() async throws {
        let rsa = stage.addKey(algorithm: .rsaV1)
        let keys = (0..<30).map { _ in stage.addKey() }
        let slow = slowRequest(rsa)
        try await stage.serve { _ in
            let gate = closeGate()
            let text = keys.enumerated().map { index, hash in
                (index % 7 == 0 ? slow : "") + SocketClient.request("GET", "/v1/keys/\(hash.base64URL)")
                    + SocketClient.request("GET", "/v1/nothing/\(index)")
            }.joined()
            let replies = try await stage.client { client in
                client.send(text)
                gate.awaitArrivals(1)
                gate.open()
                return try (0..<65).map { _ in try client.reply() }
            }
            var expected: [String] = []
            for (index, hash) in keys.enumerated() {
                if index % 7 == 0 { expected.append("symmetricKey") }
                expected += [hash.base64, "notFound"]
            }
            #expect(replies.count == expected.count)
            for (reply, word) in zip(replies, expected) { #expect(reply?.text.contains(word) == true) }
        }
    }

    @Test("Past the bound of unanswered requests nothing more is read until some are answered")
    func backpressure() async throws {
        let rsa = stage.addKey(algorithm: .rsaV1)
        let hash = stage.addKey()
        let slow = slowRequest(rsa)
        var limits = Limits()
        limits.pipelinedRequests = 1
        try await stage.serve(limits: limits) { _ in
            let gate = closeGate()
            let (isFull, statuses) = try await stage.client { client in
                client.send(slow)
                // Far more than a socket holds: the client can only send it all if the server reads on.
                let request = SocketClient.request("GET", "/v1/keys/\(hash.base64URL)")
                let sent = client.sendWithoutWaiting(
                    String(repeating: request, count: 20_000), until: .milliseconds(300))
                gate.open()
                guard try client.reply()?.status == 200 else { return (false, [Int]()) }
                let whole = sent / request.utf8.count
                return (
                    sent < 20_000 * request.utf8.count, try (0..<whole).compactMap { _ in try client.reply()?.status }
                )
            }
            #expect(isFull)
            #expect(statuses.count > 100)
            #expect(statuses.allSatisfy { $0 == 200 })
        }
    }

    @Test("A body past the bound is 413 and ends the connection", arguments: [true, false])
    func tooLarge(isChunked: Bool) async throws {
        let hash = stage.addKey()
        try await stage.serve { _ in
            let target = "/v1/keys/\(hash.base64URL)/symmetric-key"
            let body = String(repeating: " ", count: 65_537)
            let (reply, after) = try await stage.client { client in
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
            // One byte less is read and judged.
            #expect(try await stage.ask("POST", target, String(body.dropLast())).status == 400)
        }
    }

    @Test("Heads that are too large are 431, bytes that are not HTTP 400, and both end the connection")
    func heads() async throws {
        try await stage.serve { _ in
            let long = String(repeating: "a", count: 9000)
            let many = (0..<70).map { "X-\($0): 1\r\n" }.joined()
            let wide = (0..<4).map { "X-\($0): \(String(repeating: "b", count: 5000))\r\n" }.joined()
            let cases = [
                ("GET /\(long) HTTP/1.1\r\n\r\n", 431), ("GET / HTTP/1.1\r\nX: \(long)\r\n\r\n", 431),
                ("GET / HTTP/1.1\r\n\(many)\r\n", 431), ("GET / HTTP/1.1\r\n\(wide)\r\n", 431),
                ("\u{16}\u{3}\u{1}hello\r\n\r\n", 400), ("GET / HTTP/2.0\r\n\r\n", 400), ("NONSENSE\r\n\r\n", 400),
                ("POST /v1/health HTTP/1.1\r\nContent-Length: x\r\n\r\n", 400),
                ("POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
            ]
            for (text, status) in cases {
                let (reply, after) = try await stage.client { client in
                    client.send(text)
                    return (try client.reply(), try client.reply())
                }
                #expect(reply?.status == status, "\(text.prefix(40))")
                #expect(after == nil)
            }
        }
    }

    @Test(
        "A request that does not arrive in time is 408, wherever it stops",
        arguments: [
            "G", "GET /v1/health HTTP/1.1\r\nHost: d",
            "POST /v1/payment-tokens/decrypt HTTP/1.1\r\nContent-Length: 9\r\n\r\n{",
        ])
    func slowLoris(text: String) async throws {
        var limits = Limits()
        limits.requestTime = .milliseconds(150)
        try await stage.serve(limits: limits) { _ in
            let (replies, took) = try await stage.client { client in
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

    @Test("Bytes that come one by one do not keep a request alive")
    func drip() async throws {
        var limits = Limits()
        limits.requestTime = .milliseconds(200)
        try await stage.serve(limits: limits) { _ in
            let sent = try await stage.client { client in
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

    @Test("A silent connection is closed after the idle time, one that waits for its answer is not")
    func idle() async throws {
        let rsa = stage.addKey(algorithm: .rsaV1)
        let slow = slowRequest(rsa)
        var limits = Limits()
        limits.idleTime = .milliseconds(100)
        try await stage.serve(limits: limits) { _ in
            #expect(try await stage.client { try $0.reply() } == nil)
            let gate = closeGate()
            let status = try await stage.client { client in
                client.send(slow)
                usleep(400_000)
                gate.open()
                return try client.reply()?.status
            }
            #expect(status == 200)
        }
    }

    @Test("A connection past the bound gets 503 with Retry-After; once another has ended there is room again")
    func connectionBound() async throws {
        var limits = Limits()
        limits.connections.all = 3
        try await stage.serve(limits: limits) { _ in
            let path = stage.socketPath
            let refused = try await stage.blocking {
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
            while status == 503 { status = try await stage.ask("GET", "/v1/health").status }
            #expect(status == 200)
        }
    }

    @Test("Callers without a permit share a few connections, whatever room there is")
    func strangers() async throws {
        var limits = Limits()
        limits.connections.ofStrangers = 2
        try await stage.serve(limits: limits, policy: Stage.policy([])) { _ in
            let path = stage.socketPath
            let statuses = try await stage.blocking {
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

    @Test("Requests past the bound of waiting ones get 503 with Retry-After; quick ones are still answered")
    func waitingBound() async throws {
        let rsa = stage.addKey(algorithm: .rsaV1)
        let hash = stage.addKey()
        let slow = slowRequest(rsa)
        var limits = Limits()
        limits.waitingRequests = 2
        try await stage.serve(limits: limits) { _ in
            _ = try await stage.ask("GET", "/v1/keys/\(hash.base64URL)")
            let gate = closeGate()
            let path = stage.socketPath
            let (third, quick, waited) = try await stage.blocking {
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

    @Test("Who says that nothing more will come still gets every answer, then the end")
    func halfClosed() async throws {
        let rsa = stage.addKey(algorithm: .rsaV1)
        let slow = slowRequest(rsa)
        try await stage.serve { _ in
            let gate = closeGate()
            let replies = try await stage.client { client in
                client.send(slow + SocketClient.request("GET", "/v1/health"))
                client.finishSending()
                gate.awaitArrivals(1)
                gate.open()
                return try (0..<3).map { _ in try client.reply() }
            }
            #expect(replies.map { $0?.status } == [200, 200, nil])
            #expect(replies[1]?.fields["connection"] == "close")
        }
    }

    @Test(
        "What asks for the end gets it after its answer",
        arguments: [
            "GET /v1/health HTTP/1.1\r\nHost: d\r\nConnection: close\r\n\r\n", "GET /v1/health HTTP/1.0\r\n\r\n",
            "GET /v1/health HTTP/1.1\r\nHost: d\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
        ])
    func closes(text: String) async throws {
        try await stage.serve { _ in
            let replies = try await stage.client { client in
                client.send(text + SocketClient.request("GET", "/v1/health"))
                return [try client.reply(), try client.reply()]
            }
            #expect(replies[0]?.status == 200)
            #expect(replies[0]?.fields["connection"] == "close")
            #expect(replies[1] == nil)
        }
    }

    @Test("A client that waits to be asked for its body is asked")
    func expectContinue() async throws {
        let rsa = stage.addKey(algorithm: .rsaV1)
        try await stage.serve { _ in
            let replies = try await stage.client { client in
                client.send(
                    "POST /v1/keys/\(rsa.base64URL)/symmetric-key HTTP/1.1\r\nHost: d\r\nExpect: 100-continue\r\nContent-Length: \(Self.wrapped.utf8.count)\r\n\r\n"
                )
                let interim = try client.reply()
                client.send(Self.wrapped)
                return [interim, try client.reply()]
            }
            #expect(replies.map { $0?.status } == [100, 200])
        }
    }
}

@Suite("The drain")
struct DrainTests {
    let stage = Stage()

    private func slowRequest(_ rsa: PublicKeyHash) -> String {
        SocketClient.request(
            "POST", "/v1/keys/\(rsa.base64URL)/symmetric-key",
            #"{"wrappedKey":"\#(Data(repeating: 65, count: 256).base64EncodedString())"}"#)
    }

    @Test("What was asked is answered, pipelined requests too; nobody new is heard, and idle connections end")
    func drain() async throws {
        let rsa = stage.addKey(algorithm: .rsaV1)
        let slow = slowRequest(rsa)
        let gate = Gate()
        stage.custodian.rsaGate.withLock { $0 = gate }
        try await stage.serve { group in
            let path = stage.socketPath
            let (busy, idle) = try await stage.blocking {
                let busy = try SocketClient(path)
                let idle = try SocketClient(path)
                #expect(try idle.ask("GET", "/v1/health").status == 200)
                busy.send(slow + String(repeating: SocketClient.request("GET", "/v1/health"), count: 500))
                return (Handed(busy), Handed(idle))
            }
            await group.triggerGracefulShutdown()
            try await stage.blocking {
                #expect(try idle.client.reply() == nil)
                #expect(throws: SocketClient.Failed.self) { try SocketClient(path) }
                // The kernel lets the client send until the connection hears no more; all that it let through is answered.
                var asked = 501
                while busy.client.send(SocketClient.request("GET", "/v1/health")) {
                    asked += 1
                    usleep(1000)
                }
                gate.open()
                let statuses = try (0..<asked + 1).map { _ in try busy.client.reply()?.status }
                #expect(statuses == Array(repeating: 200, count: asked) + [nil])
            }
        }
    }

    @Test("A client that does not take its answers does not hold the end up past the drain time")
    func bound() async throws {
        let hash = stage.addKey()
        var limits = Limits()
        limits.drainTime = .milliseconds(200)
        try await stage.serve(limits: limits) { group in
            let path = stage.socketPath
            let client = try await stage.blocking {
                let client = try SocketClient(path)
                let request = SocketClient.request("GET", "/v1/keys/\(hash.base64URL)")
                _ = client.sendWithoutWaiting(String(repeating: request, count: 20_000), until: .milliseconds(200))
                return Handed(client)
            }
            let start = ContinuousClock.now
            await group.triggerGracefulShutdown()
            while access(path, F_OK) == 0 { try await Task.sleep(for: .milliseconds(5)) }
            #expect(ContinuousClock.now - start < .seconds(5))
            _ = client
        }
    }
}

/// Carries a client from one thread to the next; only one has it at a time.
private struct Handed: @unchecked Sendable {
    let client: SocketClient

    init(_ client: SocketClient) { self.client = client }
}
