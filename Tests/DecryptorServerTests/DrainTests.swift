import FoundationEssentials
import Glibc
import NIOCore
import ServiceLifecycle
import Testing
import Vocabulary

import DecryptorServer

@Suite("The drain")
struct DrainTests {
    let stage = Stage()

    @Test("What was asked is answered, pipelined requests too; nobody new is heard, and idle connections end")
    func drain() async throws {
        let rsa = stage.addKey(algorithm: .rsaV1)
        let slow = Stage.slowRequest(rsa)
        let gate = stage.closeGate()
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
