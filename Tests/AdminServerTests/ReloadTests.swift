import Foundation
import Glibc
import MerchantCore
import MerchantOperations
import MerchantTestSupport
import Testing
import Vocabulary
import WireAPI

@Suite struct ReloadTests {
    private static func request(_ path: String) -> Data { Data("GET \(path) HTTP/1.1\r\nHost: admin\r\n\r\n".utf8) }

    /// Sends a request on an open connection. On its own thread, because the server needs the threads of the pool.
    ///
    /// - Returns: the status of the response.
    private static func status(of path: String, on connection: CInt) async -> String {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: statusNow(of: path, on: connection)) }
        }
    }

    private static func statusNow(of path: String, on connection: CInt) -> String {
        guard RawConnection.send(request(path), to: connection) else { return "not sent" }
        let response = RawConnection.receive(from: connection) { received in
            let text = String(decoding: received, as: UTF8.self)
            guard let end = text.range(of: "\r\n\r\n"),
                let length = text[..<end.lowerBound].firstMatch(of: #/(?i)content-length: (\d+)/#).flatMap({ Int($0.1) }
                )
            else { return false }
            return text[end.upperBound...].utf8.count >= length
        }
        return String(decoding: response, as: UTF8.self).split(separator: " ").dropFirst().first.map(String.init) ?? ""
    }

    @Test func `an open connection loses a permit with its next request, and gets it back`() async throws {
        let callers = ChangingValue(TestServer.policy([.read]))
        try await TestServer.run(policy: callers.current) { server in
            let connection = try #require(RawConnection.open(server.socket))
            defer { close(connection) }
            #expect(await Self.status(of: "/v1/status", on: connection) == "200")
            callers.change(to: TestServer.policy([.administer]))
            #expect(await Self.status(of: "/v1/status", on: connection) == "403")
            callers.change(to: TestServer.policy([.read]))
            #expect(await Self.status(of: "/v1/status", on: connection) == "200")
        }
    }

    @Test func `the response names what has changed, and what needs a restart with both values`() async throws {
        let reload = SettingsReload(
            changed: ["callers"],
            changes: [
                .init(name: "callers.0.permits", before: "read", after: "administer"),
                .init(name: "callers.1.uid", before: nil, after: "7"),
            ],
            needsRestart: [
                .init(name: "log.format", values: .init(inForce: "logfmt", configured: "json")),
                .init(name: "master-key.command", values: nil),
            ], warnings: ["a directory is missing"])
        try await TestServer.run(policy: CurrentValue(TestServer.everything), reload: reload) { server in
            let reply = try await server.curl("POST", Paths.reload, #"{"dryRun": true}"#)
            #expect(reply.status == 200)
            let document = try JSONDecoder().decode(ReloadDocument.self, from: Data(reply.text.utf8))
            #expect(document.dryRun && document.changed == ["callers"])
            #expect(document.changes.map(\.name) == ["callers.0.permits", "callers.1.uid"])
            #expect(document.changes.map(\.before) == ["read", nil])
            #expect(document.changes.map(\.after) == ["administer", "7"])
            #expect(document.needsRestart.map(\.name) == ["log.format", "master-key.command"])
            #expect(document.needsRestart.map(\.inForce) == ["logfmt", nil])
            #expect(document.needsRestart.map(\.configured) == ["json", nil])
            #expect(document.warnings == ["a directory is missing"])
        }
    }
}
