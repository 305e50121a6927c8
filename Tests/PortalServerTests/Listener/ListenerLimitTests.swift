import MerchantTestSupport
import NIOCore
import PortalServer
import Testing

@Suite struct ListenerLimitTests {
    private static func limits(_ change: (inout PortalLimits) -> Void) -> PortalLimits {
        var limits = PortalLimits()
        change(&limits)
        return limits
    }

    @Test("a connection above the limit of its address is closed; after another one closes, a new one is accepted")
    func connectionsOfOneAddress() async throws {
        let limits = Self.limits { $0.connections = PortalLimits.Quota(total: 10, perAddress: 3) }
        try await ListenerFixture.run(limits: limits) { portal in
            let output = try await portal.python(
                """
                held = [tcp() for _ in range(3)]
                print([is_closed(s) for s in held], is_closed(tcp()), is_closed(tcp("127.0.0.2")))
                held.pop().close()
                s = None
                while s is None:
                    # The server has not yet noticed the end of the connection.
                    try: s = tls()
                    except (ssl.SSLError, OSError): time.sleep(0.01)
                s.sendall(b"GET / HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n")
                print(rest(s).split(b"\\r\\n")[0].decode())
                """)
            #expect(output == "[False, False, False] True False\nHTTP/1.1 200 OK\n", "\(output)")
        }
    }

    @Test("a connection above the total limit is closed")
    func connectionsInAll() async throws {
        let limits = Self.limits { $0.connections = PortalLimits.Quota(total: 2, perAddress: 2) }
        try await ListenerFixture.run(limits: limits) { portal in
            let output = try await portal.python(
                """
                held = [tcp(), tcp("127.0.0.2")]
                print(is_closed(tcp("127.0.0.3")), is_closed(held[0]))
                """)
            #expect(output == "True False\n")
        }
    }

    @Test("a TLS handshake that takes too long ends the connection, also if bytes keep coming")
    func slowHandshake() async throws {
        let limits = Self.limits { $0.handshakeTime = .milliseconds(500) }
        try await ListenerFixture.run(limits: limits) { portal in
            let output = try await portal.python(
                """
                silent, slow = tcp(), tcp()
                began = time.monotonic()
                try:
                    for byte in bytes([22, 3, 1, 2, 0, 1]) + bytes(100):
                        slow.sendall(bytes([byte])); time.sleep(0.05)
                except (BrokenPipeError, ConnectionResetError): pass
                rest(silent)
                print(time.monotonic() - began < 4)
                """)
            #expect(output == "True\n")
        }
    }

    @Test("a connection without a request, or with a slow head, is closed", arguments: ["http/1.1", "h2"])
    func idle(version: String) async throws {
        let limits = Self.limits { $0.idleTime = .milliseconds(500) }
        try await ListenerFixture.run(limits: limits) { portal in
            let output = try await portal.python(
                """
                began = time.monotonic()
                idle, slow = tls("\(version)"), tls("\(version)")
                begin = {"h2": b"PRI * HTTP/2.0\\r\\n", "http/1.1": b"GET / HTTP/1.1\\r\\nHost: "}["\(version)"]
                try:
                    for byte in begin + b"x" * 60:
                        slow.sendall(bytes([byte])); time.sleep(0.05)
                except (BrokenPipeError, ConnectionResetError, ssl.SSLError): pass
                rest(idle)
                print(time.monotonic() - began < 5)
                """)
            #expect(output == "True\n")
        }
    }

    @Test("a slow body gets 408")
    func slowBody() async throws {
        let limits = Self.limits { $0.requestTime = .milliseconds(400) }
        try await ListenerFixture.run(limits: limits) { portal in
            let output = try await portal.python(
                """
                s = tls()
                s.sendall(b"POST / HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 10\\r\\n\\r\\n12345")
                print(rest(s).split(b"\\r\\n")[0].decode())
                s = http2()
                s.sendall(frame(1, 4, 1, head(b"POST")) + frame(0, 0, 1, b"12345"))
                kinds, text = [], b""
                for kind, _, stream, payload in frames(s):
                    if stream == 1: kinds.append(kind)
                    if stream == 1 and kind == 0: text += payload
                    if kind == 3: break
                print(kinds, text.decode())
                """)
            #expect(output.hasPrefix("HTTP/1.1 408 "), "\(output)")
            #expect(output.contains("[1, 0, 0, 3] requestTimeout"), "\(output)")
        }
    }

    @Test("a body above the limit gets 413, and with HTTP/2 the server then resets the stream with NO_ERROR")
    func largeBody() async throws {
        let limits = Self.limits { $0.bodyBytes = 1000 }
        try await ListenerFixture.run(limits: limits) { portal in
            let output = try await portal.python(
                """
                s = tls()
                s.sendall(b"POST / HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 2147483648\\r\\n\\r\\n")
                print(rest(s).split(b"\\r\\n")[0].decode())
                s = http2()
                s.sendall(frame(1, 4, 1, head(b"POST")) + frame(0, 0, 1, bytes(1500)))
                for kind, _, stream, payload in frames(s):
                    if stream == 1 and kind == 0 and payload: print(payload.decode())
                    if stream == 1 and kind == 3:
                        print("reset", int.from_bytes(payload, "big"))
                        break
                s.sendall(frame(1, 5, 3, head()))
                for kind, _, stream, payload in frames(s):
                    if stream == 3 and kind == 0 and payload:
                        print(payload.decode(), end="")
                        break
                """)
            #expect(output.hasPrefix("HTTP/1.1 413 "), "\(output)")
            #expect(output.contains("\ntooLarge\nreset 0\npeer=127.0.0.1 "), "\(output)")
        }
    }

    @Test("a client that reads no response loses the connection, or with HTTP/2 the stream")
    func slowReader() async throws {
        let limits = Self.limits { $0.responseTime = .milliseconds(500) }
        try await ListenerFixture.run(limits: limits) { portal in
            let output = try await portal.python(
                """
                s = tls()
                s.sendall(b"GET /large HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
                while is_held_by_server(s): time.sleep(0.01)
                print(len(rest(s)) < 32 << 20)
                s = http2()
                s.sendall(frame(1, 5, 1, head(path=b"/large")))
                # The client never opens the window of flow control, so it gets 64 KiB and then a reset.
                kinds = []
                for kind, _, stream, payload in frames(s, 60):
                    if stream == 1: kinds.append((kind, len(payload)))
                    if kind == 3: break
                print(sum(size for kind, size in kinds if kind == 0) <= 65535, kinds[-1][0])
                """)
            #expect(output == "True\nTrue 3\n", "\(output)")
        }
    }

    @Test("a stream above the limit is refused, so that the client may repeat the request")
    func streams() async throws {
        let limits = Self.limits { $0.streams = PortalLimits.Quota(total: 10, perAddress: 2) }
        try await ListenerFixture.run(limits: limits) { portal in
            let output = try await portal.python(
                """
                s = http2()
                s.sendall(b"".join(frame(1, 4, stream, head(b"POST")) for stream in (1, 3, 5)))
                for kind, _, stream, payload in frames(s):
                    if kind == 3:
                        print(stream, int.from_bytes(payload, "big"))
                        break
                """)
            #expect(output == "5 7\n")
        }
    }

    @Test(
        "a client that floods the server with HTTP/2 frames loses the connection",
        arguments: [
            "frame(1, 5, 2 * n + 1, head()) + frame(3, 0, 2 * n + 1, bytes([0, 0, 0, 8]))",  // HEADERS and RST_STREAM
            "frame(4)",  // SETTINGS
            "frame(6, 0, 0, bytes(8))",  // PING
            "frame(9 if n else 1, 0, 1)",  // CONTINUATION
        ])
    func floods(frame: String) async throws {
        let limits = Self.limits {
            $0.streamResets = 20
            $0.controlFrames = 20
        }
        try await ListenerFixture.run(limits: limits) { portal in
            let output = try await portal.python(
                """
                s = http2()
                try:
                    for n in range(200): s.sendall(\(frame))
                except (BrokenPipeError, ConnectionResetError, ssl.SSLError): pass
                for _ in frames(s): pass
                print("closed")
                """)
            #expect(output == "closed\n", "\(output)")
        }
    }

    @Test(
        "a malformed head of an HTTP/2 request ends at most its own connection",
        arguments: [
            "head(b'CONNECT')", "head(b'GE T')", "head(extra=[(b'connection', b'close')])",
            "head(extra=[(b'host', b'other')])", "head(extra=[(b'content-length', b'5')])",
            "b''.join(field(b'x-%d' % n, b'') for n in range(4))",
            "head(extra=[(b'x-%d' % n, b'') for n in range(70)])", "head(extra=[(b'x', b'v' * 120)] * 150)",
            "bytes(50)",
        ])
    func malformedHeads(block: String) async throws {
        try await ListenerFixture.run { portal in
            let output = try await portal.python(
                """
                s = http2()
                s.sendall(frame(1, 5, 1, \(block)))
                try:
                    for kind, _, stream, payload in frames(s, 3):
                        # An answer, a reset of the stream, or the end of the connection.
                        if (stream == 1 and kind in (0, 3)) or kind == 7: break
                except (TimeoutError, socket.timeout): print("no answer")
                s = http2()
                s.sendall(frame(1, 5, 1, head()))
                for kind, _, stream, payload in frames(s):
                    if stream == 1 and kind == 0 and payload:
                        print(payload.decode(), end="")
                        break
                """)
            #expect(output.hasPrefix("peer=127.0.0.1 "), "\(output)")
        }
    }

    @Test("a client whose HTTP/2 requests violate rules too often loses the connection")
    func malformedRequests() async throws {
        let limits = Self.limits { $0.refusedRequests = 5 }
        try await ListenerFixture.run(limits: limits) { portal in
            let output = try await portal.python(
                """
                s = http2()
                received = frames(s)
                answered = set()
                number = 1
                try:
                    while number < 99:
                        # More fields than the server reads.
                        s.sendall(frame(1, 5, number, head(extra=[(b"x-%d" % n, b"") for n in range(70)])))
                        for kind, flags, stream, payload in received:
                            if stream == number and kind == 1: answered.add(number)
                            if stream == number and (kind == 3 or flags & 1): break
                        else: break
                        number += 2
                except (BrokenPipeError, ConnectionResetError, ssl.SSLError): pass
                print(len(answered), number < 99)
                """)
            #expect(output == "5 True\n", "\(output)")
        }
    }

    @Test
    func `at a shutdown, HTTP/2 streams that arrive before the last GOAWAY are answered, and it names the last stream`()
        async throws
    {
        try await ListenerFixture.run { portal in
            async let client = portal.python(
                """
                s = http2()
                s.sendall(frame(1, 5, 1, head()))
                last, answered = [], set()
                for kind, flags, stream, payload in frames(s, 20):
                    if kind in (0, 1) and flags & 1: answered.add(stream)
                    if kind == 7:
                        last.append(int.from_bytes(payload[:4], "big"))
                        if len(last) == 1: s.sendall(frame(1, 5, 3, head()))
                    if kind == 6 and not flags & 1: s.sendall(frame(6, 1, 0, payload))
                print(last, sorted(answered))
                """)
            try await portal.waitForArrivals(1)
            await portal.shutDown()
            let output = try await client
            #expect(output == "[\(Int32.max), 3] [1, 3]\n")
        }
    }

    @Test func `at a shutdown, a request of HTTP/1.1 on an idle connection is answered, and ends the connection`()
        async throws
    {
        let limits = Self.limits { $0.idleGrace = .seconds(10) }
        try await ListenerFixture.run(limits: limits) { portal in
            // The shutdown closes the connection `silent` at once, because its TLS handshake is not complete. So the
            // end of `silent` shows that the shutdown has begun.
            async let client = portal.python(
                """
                silent = tcp()
                s = tls()
                s.sendall(b"GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
                s.recv(1)
                rest(silent)
                s.sendall(b"GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
                print(rest(s).lower().count(b"connection: close"))
                """)
            try await portal.waitForArrivals(1)
            await portal.shutDown()
            let output = try await client
            #expect(output == "1\n")
            #expect(portal.arrivals.value == 2)
        }
    }

    @Test("a shutdown lets requests in progress end and closes idle connections", arguments: ["--http1.1", "--http2"])
    func shutdown(version: String) async throws {
        try await ListenerFixture.run { portal in
            async let idle = portal.python(
                """
                s = http2()
                s.sendall(frame(1, 5, 1, head()))
                print(7 in [kind for kind, _, _, _ in frames(s, 20)])
                """)
            try await portal.waitForArrivals(1)
            async let answer = portal.curl("/slow", [version, "--write-out", "%{http_code}"])
            try await portal.waitForArrivals(2)
            await portal.shutDown()
            let (answerText, idleText) = try await (answer, idle)
            #expect(answerText.hasSuffix("\n200"), "\(answerText)")
            #expect(idleText == "True\n")
        }
    }
}
