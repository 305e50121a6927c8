import DecryptorServer
import FoundationEssentials
import Glibc
import NIOCore
import ServiceLifecycle
import Testing
import Vocabulary

@Suite("Shutdown")
struct DrainTests {
    let stage = Stage()

    @Test("At shutdown all received requests are answered, no connection is accepted, and idle connections are closed")
    func drain() async throws {
        let rsa = stage.addKey(algorithm: .rsaV1)
        let slow = Stage.slowRequest(rsa)
        let gate = stage.closeGate()
        try await stage.serve { group in
            let path = stage.socketPath
            let (busy, idle) = try await stage.blocking {
                let busy = try SocketClient(path)
                let idle = try SocketClient(path)
                // A connection that its event loop has not taken over yet when the shutdown begins is closed.
                for client in [busy, idle] { #expect(try client.ask("GET", "/v1/health").status == 200) }
                busy.send(slow + String(repeating: SocketClient.request("GET", "/v1/health"), count: 500))
                return (Handed(busy), Handed(idle))
            }
            await group.triggerGracefulShutdown()
            try await stage.blocking {
                #expect(try idle.client.reply() == nil)
                #expect(throws: SocketClient.Failed.self) { try SocketClient(path) }
                // The kernel accepts bytes until the connection stops receiving; every request among them is answered.
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

    @Test(
        "At shutdown a request that has only partly arrived gets no response", arguments: ["GET /v1/hea", partialBody])
    func partialRequest(part: String) async throws {
        try await stage.serve { group in
            let path = stage.socketPath
            let client = try await stage.blocking {
                let client = try SocketClient(path)
                client.send(SocketClient.request("GET", "/v1/health") + part)
                #expect(try client.reply()?.status == 200)
                return Handed(client)
            }
            await group.triggerGracefulShutdown()
            let reply = try await stage.blocking { try client.client.reply()?.status }
            #expect(reply == nil)
        }
    }

    private static let partialBody =
        "POST /v1/payment-tokens/verify HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{"

    @Test("A client that does not read its responses does not delay the shutdown beyond the drain time")
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

/// Passes a client from one thread to the next.
private struct Handed: @unchecked Sendable {
    // Proof for @unchecked Sendable: only one thread uses the client at a time.
    let client: SocketClient

    init(_ client: SocketClient) { self.client = client }
}
