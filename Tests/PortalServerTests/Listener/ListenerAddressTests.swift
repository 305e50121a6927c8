import HTTPTypes
import PortalServer
import ServerKit
import Testing

@Suite struct ListenerAddressTests {
    private static func address(_ text: String) throws -> RemoteAddress { try #require(RemoteAddress(text)) }

    private static func headers(_ fields: [(String, String)]) throws -> HTTPFields {
        var headers = HTTPFields()
        for (name, value) in fields {
            let fieldName = try #require(HTTPField.Name(name))
            headers.append(HTTPField(name: fieldName, value: value))
        }
        return headers
    }

    @Test(
        "the client is the last address that is not a trusted proxy; if it is not readable, it is the proxy after it",
        arguments: [
            ([("X-Forwarded-For", "198.51.100.7")], "198.51.100.7"),
            ([("X-Forwarded-For", "1.2.3.4, 198.51.100.7, 10.0.0.9")], "198.51.100.7"),
            ([("X-Forwarded-For", "1.2.3.4"), ("X-Forwarded-For", "198.51.100.7")], "198.51.100.7"),
            ([("x-forwarded-for", " 198.51.100.7:4711\t")], "198.51.100.7"),
            ([("X-Forwarded-For", "[2001:db8::7]:4711")], "2001:db8::7"),
            ([("X-Forwarded-For", "2001:db8::7")], "2001:db8::7"),
            ([("X-Forwarded-For", "::ffff:198.51.100.7")], "198.51.100.7"),
            ([("X-Forwarded-For", "10.0.0.8, 10.0.0.9")], "10.0.0.8"),
            ([("Forwarded", "for=198.51.100.7;proto=https;by=10.0.0.1")], "198.51.100.7"),
            ([("Forwarded", "for=1.2.3.4, proto=https; For=\"[2001:db8::7]:4711\"")], "2001:db8::7"),
            ([("Forwarded", "for=198.51.100.7"), ("X-Forwarded-For", "198.51.100.7")], "198.51.100.7"),
            // No field names the client: the trusted proxy that is farthest from the daemon. In the last case, the
            // fields contradict each other: the address of the connection.
            ([], "10.0.0.1"),
            ([("X-Forwarded-For", "")], "10.0.0.1"),
            ([("X-Forwarded-For", "198.51.100.7, unknown")], "10.0.0.1"),
            ([("X-Forwarded-For", "198.51.100.7,")], "10.0.0.1"),
            ([("X-Forwarded-For", "198.51.100.07")], "10.0.0.1"),
            ([("X-Forwarded-For", "198.51.100.7:x")], "10.0.0.1"),
            ([("X-Forwarded-For", "[198.51.100.7]")], "10.0.0.1"),
            ([("X-Forwarded-For", "fe80::1%eth0")], "10.0.0.1"),
            ([("X-Forwarded-For", "198.51.100.7, garbage, 10.0.0.9")], "10.0.0.9"),
            ([("Forwarded", "for=_hidden")], "10.0.0.1"),
            ([("Forwarded", "for=\"198.51.100.7")], "10.0.0.1"),
            ([("Forwarded", "for=1.2.3.4;for=198.51.100.7")], "10.0.0.1"),
            ([("Forwarded", "for=198.51.100.7"), ("X-Forwarded-For", "1.2.3.4")], "10.0.0.1"),
        ] as [([(String, String)], String)])
    func behindProxies(fields: [(String, String)], client: String) throws {
        let range = try #require(AddressRange(text: "10.0.0.0/8"))
        let (headers, peer) = (try Self.headers(fields), try Self.address("10.0.0.1"))
        let found = TrustedProxies([range]).clientAddress(of: headers, from: peer)
        #expect(found.description == client)
    }

    @Test("the fields of an untrusted client are ignored")
    func untrusted() throws {
        let headers = try Self.headers([("X-Forwarded-For", "1.2.3.4"), ("Forwarded", "for=1.2.3.4")])
        let peer = try Self.address("192.0.2.1")
        #expect(TrustedProxies().clientAddress(of: headers, from: peer) == peer)
        let range = try #require(AddressRange(text: "10.0.0.0/8"))
        #expect(TrustedProxies([range]).clientAddress(of: headers, from: peer) == peer)
    }

    @Test("the listener reads X-Forwarded-For only from trusted proxies")
    func overTLS() async throws {
        let field = ["--header", "X-Forwarded-For: 198.51.100.7"]
        try await ListenerFixture.run { portal in
            let answer = try await portal.curl("/", field)
            #expect(answer.hasPrefix("peer=127.0.0.1 client=127.0.0.1 "))
        }
        let loopback = try #require(AddressRange(text: "127.0.0.1"))
        try await ListenerFixture.run(proxies: [loopback]) { portal in
            let answer = try await portal.curl("/", field)
            #expect(answer.hasPrefix("peer=127.0.0.1 client=198.51.100.7 "))
        }
    }

    @Test(
        "a range contains the addresses with its prefix",
        arguments: [
            ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false), ("0.0.0.0/0", "192.0.2.1", true),
            ("192.0.2.128/25", "192.0.2.200", true), ("192.0.2.128/25", "192.0.2.1", false),
            ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false),
            ("2001:db8::/33", "2001:db8:7fff::1", true), ("2001:db8::/33", "2001:db8:8000::1", false),
            ("::/0", "192.0.2.1", false), ("::1", "::1", true), ("10.0.0.0/8", "::ffff:10.1.1.1", true),
        ])
    func ranges(range: String, address: String, isContained: Bool) throws {
        let parsed = try #require(AddressRange(text: range))
        let tested = try Self.address(address)
        #expect(parsed.contains(tested) == isContained)
    }

    @Test(
        "text that is not a range is refused",
        arguments: [
            "", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.1/8", "10.0.0.0/8/8", "10.0.0",
            "host", "2001:db8::/129", "[::1]", "::1%lo", "10.0.0.0/0008",
        ])
    func badRanges(text: String) {
        #expect(AddressRange(text: text) == nil)
    }

    @Test(
        "an address to listen on is a host and a port",
        arguments: [
            ("127.0.0.1:0", "127.0.0.1", 0), ("[::1]:8443", "::1", 8443), ("portal.example:443", "portal.example", 443),
            ("[2001:DB8::0:1]:65535", "2001:db8::1", 65_535),
        ])
    func listenAddresses(text: String, host: String, port: Int) throws {
        let address = try #require(ListenAddress(text: text))
        #expect(address.host == host && address.port == port)
    }

    @Test(
        "text that is not an address to listen on is refused",
        arguments: [
            "", ":443", "host", "host:", "host:65536", "host:-1", "::1:443", "[::1]", "[::1:443", "[x]:1", "a b:1",
        ])
    func badListenAddresses(text: String) {
        #expect(ListenAddress(text: text) == nil)
    }

    @Test("the addresses of one IPv6 /64 network count as one client")
    func blocks() throws {
        let blocks = try ["2001:db8:0:1::1", "2001:db8:0:1:ffff::9", "2001:db8:0:2::1", "::ffff:192.0.2.1"].map {
            try Self.address($0).block.description
        }
        #expect(blocks == ["2001:db8:0:1::/64", "2001:db8:0:1::/64", "2001:db8:0:2::/64", "192.0.2.1"])
    }
}
