import AdminServer
import Foundation
import Glibc
import MerchantCore
import MerchantOperations
import MerchantTestSupport
import Testing
import Vocabulary

/// What a local user can do who can connect but has no permit.
@Suite struct UntrustedCallerTests {
    private static let withoutPermit = TestServer.policy([])
    private static let forbiddenRequest = "GET /v1/merchants HTTP/1.1\r\nHost: x\r\n\r\n"

    @Test("a caller without a permit gets one refusal for each connection, whatever it pipelines")
    func oneRefusal() async throws {
        try await TestServer.run(policy: Self.withoutPermit) { server in
            let answer = await RawConnection.exchange(
                String(repeating: Self.forbiddenRequest, count: 1000), with: server.socket, keepsSending: true)
            #expect(answer.hasPrefix("HTTP/1.1 403 "))
            #expect(answer.matches(of: #/HTTP/1\.1 \d+ /#).count == 1)
        }
    }

    @Test("a route that needs no permit is answered for every request of a connection")
    func openRoutes() async throws {
        try await TestServer.run(policy: Self.withoutPermit) { server in
            let answer = await RawConnection.exchange(
                String(repeating: "GET /v1/openapi.yaml HTTP/1.1\r\nHost: x\r\n\r\n", count: 200), with: server.socket)
            #expect(answer.matches(of: #/HTTP/1\.1 200 /#).count == 200)
        }
    }

    @Test("refused requests are counted in the audit, and few of them are in the log")
    func countedNotLogged() async throws {
        let count = 300
        try await TestServer.run(policy: Self.withoutPermit) { server in
            for _ in 0..<count {
                let answer = await RawConnection.exchange(Self.forbiddenRequest, with: server.socket)
                #expect(answer.hasPrefix("HTTP/1.1 403 "))
            }
            let lines = server.log.lines.filter { $0.contains("request forbidden") }
            // A burst of them, and one more for every ten seconds that the loop may have taken.
            #expect((1...20).contains(lines.count), "\(lines.count)")
            let daemon = Caller.daemon(uid: 0, gid: 0, pid: 1)
            #expect(try await server.operations.refusalAudit.recordRefusals(as: daemon) == 1)
            let records = try await server.repository.read {
                try $0.auditRecords(AuditFilter(), from: nil, oldestFirst: false, limit: 10)
            }
            let record = try #require(records.first)
            #expect(record.entry.caller.name == "uid:\(getuid())")
            #expect(record.entry.reason?.hasPrefix("\(count) requests from ") == true)
        }
    }

    @Test("a request of a caller without a permit is refused before its body arrives")
    func manyBodies() async throws {
        // Without this rule, 16 connections with 1 MiB each would hold more memory than callers without a permit may.
        let path = "/v1/merchants/merchant.com.example.shop/keys/import"
        try await TestServer.run(policy: Self.withoutPermit) { server in
            let answer = await RawConnection.exchange(
                "POST \(path) HTTP/1.1\r\nHost: x\r\nContent-Length: 1048576\r\n\r\n", with: server.socket,
                keepsSending: true)
            #expect(answer.hasPrefix("HTTP/1.1 403 "))
        }
    }
}

@Suite struct ResponseMemoryTests {
    @Test("request bodies beyond the memory share of one user get 503, until connections close")
    func overloaded() async throws {
        let (opened, keep) = AsyncStream.makeStream(of: CInt.self)
        try await TestServer.run { server in
            let head =
                "POST /v1/merchants/merchant.com.example.shop/keys/import HTTP/1.1\r\nHost: x\r\nContent-Length: 1048576\r\n\r\n"
            // Each connection reserves 1 MiB for a body that it never sends. One user may reserve 48 MiB.
            for _ in 0..<48 {
                let descriptor = try #require(RawConnection.open(server.socket))
                keep.yield(descriptor)
                #expect(send(descriptor, head, head.utf8.count, CInt(MSG_NOSIGNAL)) == head.utf8.count)
            }
            keep.finish()
            var status = 0
            while status != 503 {
                status = try await server.curl(
                    "POST", "/v1/merchants/merchant.com.example.shop/keys/import",
                    String(repeating: " ", count: 1_000_000)
                ).status
            }
            #expect(try await server.curl("GET", "/v1/health").status == 200)
            for await descriptor in opened { close(descriptor) }
            while status == 503 {
                status = try await server.curl(
                    "POST", "/v1/merchants/merchant.com.example.shop/keys/import",
                    String(repeating: " ", count: 1_000_000)
                ).status
            }
            #expect(status == 400)
        }
    }
}
