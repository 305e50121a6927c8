import DecryptorServer
import Glibc
import LocalSocket
import MerchantTestSupport
import NIOCore
import ServiceLifecycle
import Testing
import Vocabulary

/// The end of the server: a client that reads `Connection: close` and connects again loses no request.
@Suite("Shutdown")
struct DrainTests {
    let server = DecryptorTestServer()
    private static let health = SocketClient.request("GET", "/v1/health")

    @Test func `at shutdown every request that has arrived is answered, and the last response closes the connection`()
        async throws
    {
        let slow = DecryptorTestServer.slowRequest(server.addKey(algorithm: .rsaV1))
        let gate = server.closeGate()
        try await server.serve { group in
            let path = server.socketPath
            let (busy, idle) = try await server.blocking {
                let busy = try SocketClient(path)
                busy.send(slow + String(repeating: Self.health, count: 100))
                return (Handed(busy), try Handed(SocketClient(path)))
            }
            await group.triggerGracefulShutdown()
            try await server.blocking {
                // When the idle connection closes, the shutdown has begun on every connection.
                #expect(try idle.client.reply() == nil)
                busy.client.send(String(repeating: Self.health, count: 100))
                gate.open()
                let replies = try (0..<201).map { _ in try busy.client.reply() }
                #expect(replies.map { $0?.status } == Array(repeating: 200, count: 201))
                #expect(replies.map { $0?.fields["connection"] } == Array(repeating: nil, count: 200) + ["close"])
                #expect(!busy.client.send(Self.health))
                #expect(try busy.client.reply() == nil)
            }
        }
    }

    @Test func `at shutdown a client that keeps asking gets every answer, and reads that the connection closes`()
        async throws
    {
        try await server.serve { group in
            let path = server.socketPath
            let client = try await server.blocking { Handed(try SocketClient(path)) }
            await group.triggerGracefulShutdown()
            try await server.blocking {
                var reply = try client.client.ask("GET", "/v1/health")
                while reply.fields["connection"] == nil {
                    #expect(reply.status == 200)
                    reply = try client.client.ask("GET", "/v1/health")
                }
                #expect(reply.status == 200 && reply.fields["connection"] == "close")
                #expect(try client.client.reply() == nil)
            }
        }
    }

    @Test func `at shutdown a connection that stays idle closes, after which no byte can be sent`() async throws {
        try await server.serve { group in
            let path = server.socketPath
            let client = try await server.blocking { Handed(try SocketClient(path)) }
            await group.triggerGracefulShutdown()
            try await server.blocking {
                let reply = try client.client.reply()
                #expect(reply == nil)
                #expect(!client.client.send(Self.health))
            }
        }
    }

    @Test(
        "At shutdown a request that has only partly arrived is answered when the rest arrives",
        arguments: [("GET /v1/hea", "lth HTTP/1.1\r\nHost: x\r\n\r\n", 200), (partialBody, "}}}}}}}}", 400)])
    func partialRequest(part: String, rest: String, status: Int) async throws {
        var limits = Limits()
        limits.idleGrace = .milliseconds(20)
        try await server.serve(limits: limits) { group in
            let path = server.socketPath
            let client = try await server.blocking {
                let client = try SocketClient(path)
                #expect(try client.ask("GET", "/v1/health").status == 200)
                client.send(part)
                return Handed(client)
            }
            let idle = try await server.blocking { Handed(try SocketClient(path)) }
            await group.triggerGracefulShutdown()
            try await server.blocking {
                // The idle connection closes when the time for idle connections is over.
                #expect(try idle.client.reply() == nil)
                client.client.send(rest)
                let reply = try client.client.reply()
                #expect(reply?.status == status && reply?.fields["connection"] == "close")
            }
        }
    }

    private static let partialBody =
        "POST /v1/payment-tokens/verify HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{"

    @Test func `a client that does not read its responses does not delay the shutdown beyond the drain time`()
        async throws
    {
        let hash = server.addKey()
        var limits = Limits()
        limits.drainTime = .milliseconds(200)
        var start = ContinuousClock.now
        var client: Handed?
        try await server.serve(limits: limits) { group in
            let path = server.socketPath
            client = try await server.blocking {
                let client = try SocketClient(path)
                let request = SocketClient.request("GET", "/v1/keys/\(hash.base64URL)")
                _ = client.sendWithoutWaiting(String(repeating: request, count: 20_000), until: .milliseconds(200))
                return Handed(client)
            }
            start = .now
            await group.triggerGracefulShutdown()
        }
        #expect(ContinuousClock.now - start < .seconds(5))
        withExtendedLifetime(client) {}
    }

    @Test func `the server leaves an inherited socket to the next server, and connections wait meanwhile`() async throws
    {
        let scratch = try Scratch()
        let path = scratch.path("decryptor.sock")
        // systemd's copy of the socket.
        let listener = try UnixListener.listen(path: path, mode: 0o600, backlog: 16)
        defer { close(listener.descriptor) }
        for round in 0..<3 {
            // A connection that waits in the kernel's queue while no server runs.
            let waiting = try await server.blocking {
                let client = try SocketClient(path)
                client.send(Self.health)
                return Handed(client)
            }
            let inherited = try InheritedSocket(descriptor: dup(listener.descriptor), name: "decryptor")
            try await server.serve(socket: SocketSource(path: path, mode: 0o660, inherited: inherited)) { _ in
                let status = try await server.blocking { try waiting.client.reply()?.status }
                #expect(status == 200, "round \(round)")
            }
        }
    }
}

/// Passes a client from one thread to the next.
private struct Handed: @unchecked Sendable {
    // Proof for @unchecked Sendable: only one thread uses the client at a time.
    let client: SocketClient

    init(_ client: SocketClient) { self.client = client }
}
