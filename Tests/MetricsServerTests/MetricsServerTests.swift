import Foundation
import Glibc
import HTTPKit
import Logging
import MerchantCore
import MerchantOperations
import MerchantTestSupport
import MetricsKit
import MetricsServer
import ServerKit
import ServiceLifecycle
import Testing

/// The TCP port for metrics, with curl as its client.
@Suite struct MetricsServerTests {
    /// A client of a running server.
    private struct Client: Sendable {
        let port: Int
        let requests: RequestMetrics

        /// - Returns: the status, the header fields in lower case, and the body.
        func curl(_ path: String, _ arguments: String...) async throws -> (status: Int, head: String, body: String) {
            let command =
                ["curl", "--silent", "--max-time", "20", "--path-as-is", "--dump-header", "-"] + arguments
                + ["http://127.0.0.1:\(port)\(path)"]
            let output = try await onThread { try ChildProcess.run(command).output }
            let parts = output.components(separatedBy: "\r\n\r\n")
            let status = parts[0].split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
            return (status, parts[0].lowercased(), parts.dropFirst().joined(separator: "\r\n\r\n"))
        }

        /// Sends bytes, closes the output, and reads until the server closes the connection.
        func exchange(_ request: String) async throws -> String {
            try await onThread { [port] in try OpenConnection(port: port).exchange(request) }
        }

        /// Runs a blocking function on a thread of its own, because the server needs the threads of the concurrency
        /// pool.
        func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
            try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
            }
        }
    }

    private static func run(
        isReady: Bool = true, _ body: @escaping @Sendable (Client) async throws -> Void
    ) async throws {
        let clock = HandMovedClock()
        let operations = Operations(
            repository: MemoryRepository(), custodian: FakeCustodian(clock: clock), clock: clock)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let requests = RequestMetrics()
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        let server = MetricsServer(
            address: MetricsServer.Address(host: "127.0.0.1", port: 0),
            report: MetricsReport(
                monitoring: operations.monitoring, masterKey: operations.masterKey, sources: [requests],
                version: "1.2.3", startedAt: clock.now),
            isReady: { isReady }, requests: requests,
            problems: ProblemReporter(
                log: LimitedLog(logger), integrityFindings: operations.integrity, refusalLevel: .debug,
                forbiddenLevel: .debug),
            logger: logger, onListening: { continuation.yield($0) })
        let group = ServiceGroup(services: [server], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                defer { continuation.finish() }
                try await group.run()
            }
            var iterator = ports.makeAsyncIterator()
            let port = try #require(await iterator.next())
            let result: Result<Void, any Error>
            do { result = .success(try await body(Client(port: port, requests: requests))) } catch {
                result = .failure(error)
            }
            await group.triggerGracefulShutdown()
            try result.get()
            try await tasks.waitForAll()
        }
    }

    @Test func `the page follows the exposition format and counts the port's own requests`() async throws {
        try await Self.run { client in
            let first = try await client.curl("/metrics")
            #expect(first.status == 200 && first.head.contains("content-type: text/plain; version=0.0.4"))
            let page = try PrometheusPage(first.body)
            #expect(page["merchantkeyd_build_info", ["version": "1.2.3"]] == 1)
            #expect(page["merchantkeyd_database_readable"] == 1)
            #expect(page["merchantkeyd_findings", ["code": "storeFailing", "severity": "critical"]] == 0)
            let count = client.requests.snapshot().first { $0.key.path == "/metrics" }
            #expect(count?.key.server == "metrics" && count?.value.countByStatus[200] == 1)
        }
    }

    @Test(arguments: [(true, 200, "ready\n"), (false, 503, "not ready\n")])
    func `a probe learns only whether the daemon is ready`(
        isReady: Bool, status: Int, body: String
    ) async throws {
        try await Self.run(isReady: isReady) { client in
            let reply = try await client.curl("/health")
            #expect(reply.status == status && reply.body == body)
        }
    }

    @Test func `the port offers only GET and HEAD of two paths`() async throws {
        try await Self.run { client in
            for path in ["/", "/v1/status", "/v1/health", "/metrics/", "//metrics", "/v1/merchants"] {
                let reply = try await client.curl(path)
                #expect(reply.status == 404 && reply.body.contains("notFound"), "\(path)")
            }
            for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
                let reply = try await client.curl("/metrics", "--request", method)
                #expect(reply.status == 405 && reply.head.contains("allow: get, head"), "\(method)")
            }
            let head = try await client.curl("/metrics", "--head")
            #expect(head.status == 200 && !head.head.contains("content-length: 0"))
            #expect(try await client.curl("/metrics", "--data", "x").status == 413)
        }
    }

    @Test func `the response has the request identifier and the trace identifier of the request`() async throws {
        try await Self.run { client in
            let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
            let reply = try await client.curl(
                "/health", "--header", "X-Request-Id: scrape-7", "--header",
                "traceparent: 00-\(trace)-00f067aa0ba902b7-01")
            #expect(reply.head.contains("x-request-id: scrape-7"))
            #expect(reply.head.contains("traceparent: 00-\(trace)-") && !reply.head.contains("00f067aa0ba902b7"))
        }
    }

    @Test func `a client that closes its output after the request gets the response`() async throws {
        try await Self.run { client in
            let reply = try await client.exchange("GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(reply.hasPrefix("HTTP/1.1 200 OK\r\n") && reply.hasSuffix("ready\n"))
        }
    }

    @Test func `a client with too many connections excludes neither other addresses nor its own new connections`()
        async throws
    {
        try await Self.run { client in
            let other = try OpenConnection(port: client.port, from: "127.0.0.2")
            let held = try (0..<40).map { _ in try OpenConnection(port: client.port) }
            #expect(try await client.curl("/health").status == 200)
            #expect(try await client.curl("/health", "--interface", "127.0.0.2").status == 200)
            // One address may hold only a part of the connections. For each further one, the server closes the oldest.
            #expect(try await client.onThread { held[0].receive() } == "")
            // The connection of the other address stayed open.
            let reply = try await client.onThread { try other.exchange(Self.probe) }
            #expect(reply.hasPrefix("HTTP/1.1 200 OK\r\n"))
            for connection in held { connection.disconnect() }
        }
    }

    @Test func `clients of three addresses that hold all connections do not exclude a fourth`() async throws {
        try await Self.run { client in
            let held = try (2...4).flatMap { number in
                try (0..<12).map { _ in try OpenConnection(port: client.port, from: "127.0.0.\(number)") }
            }
            #expect(try await client.curl("/health").status == 200)
            for connection in held { connection.disconnect() }
        }
    }

    private static let probe = "GET /health HTTP/1.1\r\nHost: x\r\n\r\n"

    /// A connection that sends only what a test gives it.
    private final class OpenConnection: Sendable {
        private let descriptor: CInt

        /// - Parameter source: the address of the client.
        init(port: Int, from source: String = "127.0.0.1") throws {
            descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
            let result = [
                Self.withAddress(source, port: 0) { bind(descriptor, $0, $1) },
                Self.withAddress("127.0.0.1", port: port) { connect(descriptor, $0, $1) },
            ]
            try #require(result == [0, 0])
        }

        private static func withAddress(
            _ host: String, port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt
        ) -> CInt {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = in_port_t(port).bigEndian
            address.sin_addr.s_addr = inet_addr(host)
            return withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }

        func disconnect() { close(descriptor) }

        func exchange(_ request: String) throws -> String {
            defer { disconnect() }
            let bytes = Array(request.utf8)
            try #require(send(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL)) == bytes.count)
            shutdown(descriptor, CInt(SHUT_WR))
            return receive()
        }

        /// Reads until the server closes the connection.
        func receive() -> String {
            var received: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = recv(descriptor, &buffer, buffer.count, 0)
                guard count > 0 else { break }
                received += buffer[..<count]
            }
            return String(decoding: received, as: UTF8.self)
        }
    }
}
