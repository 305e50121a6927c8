import Foundation
import Glibc
import HTTPKit
import HTTPTypes
import HummingbirdCore
import Logging
import MerchantTestSupport
import NIOCore
import NIOHTTP1
import PortalServer
import ServiceLifecycle
import Testing
import Vocabulary

/// A listener on a free port of 127.0.0.1, with its own certificate. It runs while a closure runs.
///
/// It answers valid requests with the addresses of peer and client, the fingerprint of the client certificate and the
/// length of the body. The path `/slow` answers after 0.7 s, `/large` with 32 MiB.
struct ListenerFixture: Sendable {
    let port: Int
    let files: TestCertificates
    let certificates: PortalCertificates
    /// Each report of ``certificates``, oldest first: a finding, or nil when the problem is solved.
    let findings: Guarded<[String?]>
    /// The clock of the listener.
    let time: Guarded<Timestamp>
    /// How many requests have arrived.
    let arrivals: Guarded<Int>
    /// Begins a graceful shutdown.
    let shutDown: @Sendable () async -> Void

    static func run(
        limits: PortalLimits = PortalLimits(), proxies: [AddressRange] = [], withClientCA: Bool = false,
        _ body: @escaping @Sendable (ListenerFixture) async throws -> Void
    ) async throws {
        let files = try TestCertificates()
        if withClientCA { try files.issue("ca") }
        // A minute ahead, because a certificate that openssl issues during the test is not valid before its issue.
        let time = Guarded(Timestamp(Date()).adding(.seconds(60)))
        let findings = Guarded<[String?]>([])
        let arrivals = Guarded(0)
        let logger = Logger(label: "listener") { _ in SwiftLogNoOpLogHandler() }
        let certificates = try PortalCertificates(
            files.settings(clientCA: withClientCA ? "ca" : nil), now: { time.value }, logger: logger,
            onFinding: { finding in findings.update { $0.append(finding) } })
        let address = try #require(ListenAddress(text: "127.0.0.1:0"))
        let listener = PortalListener(
            settings: PortalListenerSettings(
                listen: address, trustedProxies: TrustedProxies(proxies), limits: limits),
            certificates: certificates, logger: logger, now: { time.value },
            refuse: { fault, _, _ in
                RequestGuard.Refusal(
                    status: HTTPResponseStatus(statusCode: fault.problem.status),
                    headers: HTTPHeaders([("Content-Type", "text/plain")]),
                    body: ByteBuffer(string: fault.problem.code))
            },
            respond: { request, writer, connection in
                arrivals.update { $0 += 1 }
                let text = try await respond(to: request, on: connection)
                let head = HTTPResponse(status: .ok, headerFields: [.contentLength: String(text.utf8.count)])
                try await writer.write(response: head, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
            })
        let group = ServiceGroup(services: [listener], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            tasks.addTask {
                while listener.boundPort == nil { try await Task.sleep(for: .milliseconds(2)) }
                let fixture = ListenerFixture(
                    port: listener.boundPort ?? 0, files: files, certificates: certificates, findings: findings,
                    time: time, arrivals: arrivals, shutDown: { await group.triggerGracefulShutdown() })
                let result: Result<Void, any Error>
                do { result = .success(try await body(fixture)) } catch { result = .failure(error) }
                await group.triggerGracefulShutdown()
                try result.get()
            }
            for try await _ in tasks {}
        }
    }

    private static func respond(
        to request: HummingbirdCore.Request, on connection: PortalConnection
    ) async throws -> String {
        var count = 0
        for try await part in request.body { count += part.readableBytes }
        switch request.uri.path {
        case "/slow": try await Task.sleep(for: .milliseconds(700))
        case "/large": return String(repeating: "x", count: 32 << 20)
        default: break
        }
        let fingerprint = connection.clientCertificateFingerprint.map { Hex.encode($0.bytes) } ?? "none"
        return """
            peer=\(connection.peerAddress) client=\(connection.clientAddress(of: request.headers)) \
            certificate=\(fingerprint) body=\(count)

            """
    }

    /// - Returns: what curl writes: the body, unless `arguments` say otherwise.
    func curl(_ path: String, _ arguments: [String] = []) async throws -> String {
        let command =
            ["curl", "--silent", "--show-error", "--max-time", "20", "--cacert", files.path("server.pem")]
            + arguments + ["https://127.0.0.1:\(port)\(path)"]
        return try await TestCommand.output(command)
    }

    func waitForArrivals(_ count: Int) async throws {
        while arrivals.value < count { try await Task.sleep(for: .milliseconds(5)) }
    }

    /// Runs `openssl s_client` with an empty input.
    func sClient(_ arguments: [String]) async throws -> ChildProcess.Outcome {
        try await TestCommand.run(["openssl", "s_client", "-connect", "127.0.0.1:\(port)", "-brief"] + arguments)
    }

    /// Runs a script in Python, after ``TestCommand/pythonClient``.
    func python(_ script: String) async throws -> String {
        try await TestCommand.output([
            "python3", "-c", TestCommand.pythonClient + script, String(port), files.path("server.pem"),
        ])
    }
}

/// Runs programs on separate threads, because waiting for a program blocks its thread.
enum TestCommand {
    static func run(_ command: [String]) async throws -> ChildProcess.Outcome {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try ChildProcess.run(command) })
            }
        }
    }

    static func output(_ command: [String]) async throws -> String {
        let outcome = try await run(command)
        guard outcome.status == 0 else { throw ChildProcess.Failure(command: command, outcome: outcome) }
        return outcome.output
    }

    /// Python functions for a TLS client, and for an HTTP/2 client that can send invalid frames. `port` and
    /// `ca` are the script's arguments.
    static let pythonClient = """
        import socket, ssl, struct, sys, time
        port, ca = int(sys.argv[1]), sys.argv[2]

        def tcp(source="127.0.0.1"):
            s = socket.create_connection(("127.0.0.1", port), 10, (source, 0))
            return s

        def tls(*protocols, connection=None):
            context = ssl.create_default_context(cafile=ca)
            context.check_hostname = False
            if protocols: context.set_alpn_protocols(list(protocols))
            return context.wrap_socket(connection or tcp())

        def is_closed(s, patience=1):
            s.settimeout(patience)
            try: return s.recv(1) == b""
            except ConnectionResetError: return True
            except (TimeoutError, socket.timeout): return False

        def is_held_by_server(s):
            # The server's end of the connection is in the state ESTABLISHED. A client that reads nothing cannot see the
            # end of the connection on its own socket, because the unread bytes come first.
            ends = ["0100007F:%04X" % number for number in (port, s.getsockname()[1])]
            lines = [line.split()[1:4] for line in open("/proc/net/tcp")]
            return ends + ["01"] in lines

        def rest(s):
            data = b""
            try:
                while True:
                    part = s.recv(65536)
                    if not part: break
                    data += part
            except (ConnectionResetError, ssl.SSLEOFError): pass
            return data

        def frame(kind, flags=0, stream=0, payload=b""):
            return (struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload)

        def field(name, value):
            return b"\\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value

        def head(method=b"GET", path=b"/", extra=()):
            fields = [(b":method", method), (b":scheme", b"https"), (b":path", path), (b":authority", b"localhost")]
            return b"".join(field(*f) for f in fields + list(extra))

        def http2():
            s = tls("h2")
            s.sendall(b"PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n" + frame(4))
            return s

        def frames(s, patience=5):
            s.settimeout(patience)
            buffer = b""
            while True:
                while len(buffer) >= 9 and len(buffer) >= 9 + int.from_bytes(buffer[:3], "big"):
                    end = 9 + int.from_bytes(buffer[:3], "big")
                    yield buffer[3], buffer[4], int.from_bytes(buffer[5:9], "big"), buffer[9:end]
                    buffer = buffer[end:]
                try: part = s.recv(65536)
                except (ConnectionResetError, ssl.SSLEOFError): return
                if not part: return
                buffer += part


        """
}

/// Certificates and private keys in PEM files, generated with openssl: `NAME.pem` and `NAME.key`.
struct TestCertificates: Sendable {
    private let scratch: Scratch

    /// Generates the pair `server`, which is valid for 127.0.0.1 and localhost.
    init() throws {
        scratch = try Scratch()
        try issue("server")
    }

    func path(_ name: String) -> String { scratch.path(name) }

    /// Generates a certificate and its private key, and replaces the files of an earlier pair with this name.
    ///
    /// - Parameter issuer: the name of the pair that signs the certificate; nil for a self-signed certificate.
    func issue(_ name: String, by issuer: String? = nil, extensions: [String] = []) throws {
        var command = [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-keyout", path("\(name).key"), "-out", path("\(name).pem"), "-days", "2", "-subj", "/CN=\(name)",
        ]
        if let issuer { command += ["-CA", path("\(issuer).pem"), "-CAkey", path("\(issuer).key")] }
        for text in ["subjectAltName=DNS:localhost,IP:127.0.0.1"] + extensions { command += ["-addext", text] }
        try ChildProcess.output(of: command)
    }

    func settings(clientCA: String? = nil) -> PortalTLS.Files {
        PortalTLS.Files(
            certificate: path("server.pem"), privateKey: path("server.key"),
            clientCA: clientCA.map { path("\($0).pem") })
    }

    /// Replaces the file `other` by the file `name`, as programs that renew certificates do.
    func move(_ name: String, to other: String) throws {
        guard rename(path(name), path(other)) == 0 else { throw POSIXError(.EIO) }
    }

    func write(_ text: String, _ name: String) throws { try scratch.write(text, name) }

    /// The serial number of a certificate, as Python's `ssl` shows it.
    func serial(_ name: String) throws -> String {
        let output = try ChildProcess.output(of: ["openssl", "x509", "-in", path("\(name).pem"), "-noout", "-serial"])
        let text = String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        return String(text.dropFirst("serial=".count))
    }
}
