import LocalSocket
import MerchantTestSupport
import NIOCore
import PortalServer
import RESTKit
import Testing

@Suite struct PortalLimitTests {
    private static func rates(burst: Int) -> RequestRates.Limits {
        var limits = RequestRates.Limits()
        limits.address = RequestRates.Rate(perMinute: 1, burst: burst)
        return limits
    }

    private static var limits: PortalLimits {
        var limits = PortalLimits()
        limits.lingerTime = .milliseconds(50)
        return limits
    }

    @Test func `malformed requests of HTTP/1.1 count as requests of their address`() async throws {
        try await ServerFixture.run(rates: Self.rates(burst: 4), limits: Self.limits) { portal in
            let output = try await portal.python(
                """
                def status(head):
                    s = tls()
                    s.sendall(head)
                    return rest(s).split(b" ")[1].decode()
                # Without Host, and with a field that cannot be parsed.
                print([status(b"GET / HTTP/1.1\\r\\n\\r\\n") for _ in range(2)], end="")
                print([status(b"GET / HTTP/1.1\\r\\nHost x\\r\\n\\r\\n") for _ in range(3)])
                """)
            #expect(output == "['400', '400']['400', '400', '429']\n", "\(output)")
            #expect(try await portal.curl("/").status == "429")
        }
    }

    @Test func `malformed requests of HTTP/2 count as requests of their address`() async throws {
        try await ServerFixture.run(rates: Self.rates(burst: 3)) { portal in
            let output = try await portal.python(
                """
                s = http2()
                received = frames(s)
                codes = []
                for number in range(1, 9, 2):
                    # More fields than the server reads.
                    s.sendall(frame(1, 5, number, head(extra=[(b"x-%d" % n, b"") for n in range(70)])))
                    text = b""
                    for kind, flags, stream, payload in received:
                        if stream == number and kind == 0: text += payload
                        if stream == number and (kind == 3 or flags & 1): break
                    codes.append(next(code for code in ("tooLarge", "tooManyRequests") if code in text.decode()))
                print(codes)
                """)
            #expect(output == "['tooLarge', 'tooLarge', 'tooLarge', 'tooManyRequests']\n", "\(output)")
            #expect(try await portal.curl("/").status == "429")
        }
    }

    @Test func `a request that HTTP/2 itself does not permit counts, too`() async throws {
        try await ServerFixture.run(rates: Self.rates(burst: 3), limits: Self.limits) { portal in
            let output = try await portal.python(
                """
                for _ in range(3):
                    s = http2()
                    s.sendall(frame(1, 5, 1, head(extra=[(b"connection", b"close")])))
                    rest(s)
                print("closed")
                """)
            #expect(output == "closed\n", "\(output)")
            #expect(try await portal.curl("/").status == "429")
        }
    }

    @Test(arguments: ["/fleet", "/fleet/search?q=shop"])
    func `a page waits while its operator runs as many reads as REST permits`(path: String) async throws {
        try await ServerFixture.run { portal in
            let cookie = try await portal.signInOperator()
            let running = Guarded(0)
            let isReleased = Guarded(false)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        try await portal.readLimits.run(for: .remote("operator:\(ServerFixture.operatorUID)")) {
                            running.update { $0 += 1 }
                            while !isReleased.value { try await Task.sleep(for: .milliseconds(2)) }
                        }
                    }
                }
                while running.value < 4 { try await Task.sleep(for: .milliseconds(2)) }
                #expect(try await portal.isWaiting(path, headers: [cookie]))
                // The reads of others do not wait.
                #expect(try await portal.curl("/").status == "200")
                isReleased.value = true
                try await group.waitForAll()
            }
            #expect(try await portal.curl(path, headers: [cookie]).status == "200")
        }
    }

    @Test func `a client may send 150 requests over one HTTP/2 connection`() async throws {
        try await ServerFixture.run { portal in
            let urls = Array(repeating: "https://127.0.0.1:\(portal.port)/v1/health", count: 149)
            let reply = try await portal.curl("/v1/health", ["--http2", "--fail-early"] + urls)
            #expect(reply.status == "200")
        }
    }
}
