import OutboundHTTP
import Testing

@Suite struct NetworkAddressTests {
    @Test(
        "an address outside the public internet is internal, in every notation",
        arguments: [
            "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1",
            "127.255.255.254", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.2.1",
            "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.9", "224.0.0.1",
            "239.255.255.255", "240.0.0.1", "255.255.255.255",
            "::", "::1", "::ffff:127.0.0.1", "::ffff:10.1.2.3", "::ffff:a9fe:a9fe", "::127.0.0.1", "64:ff9b::10.0.0.1",
            "64:ff9b:1::1", "100::1", "2001::1", "2001:1ff::1", "2001:db8::1", "2002:7f00:1::1", "2002:808:808::1",
            "3fff::1", "5f00::1", "fc00::1", "fd12:3456::1", "fe80::1", "febf::1", "fec0::1", "ff02::1", "4000::1",
            "10.1.2.3", "192.0.0.1", "239.1.1.1", "::ffff:10.0.0.1", "fdff::1", "64:ff9b::7f00:1", "64:ff9b::a00:1",
            "2002:7f00:1::", "2002:a00:1::", "2002:11ab:4e07::1",
        ])
    func inside(_ text: String) throws {
        #expect(try #require(NetworkAddress(text)).isInternal)
    }

    @Test(
        "a public address is not internal, also next to the internal ranges",
        arguments: [
            "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "17.253.144.10", "100.63.255.255", "100.128.0.0",
            "126.255.255.255", "128.0.0.0", "169.253.0.1", "169.255.0.1", "172.15.255.255", "172.32.0.0", "191.0.0.1",
            "192.0.1.1", "192.167.0.1", "192.169.0.1", "198.17.0.1", "198.20.0.0", "203.0.112.1", "223.255.255.255",
            "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2001:200::1", "2001:4860:4860::8888", "2620:149:af0::10",
            "2a00:1450::1",
            "2003::1", "3ffe::1", "3fff:1000::1", "11.0.0.1", "17.171.78.7", "100.128.0.1", "128.0.0.1",
            "169.253.255.255",
            "172.32.0.1", "192.167.255.255", "198.17.255.255", "198.20.0.1", "2606:4700::1", "::ffff:17.171.78.7",
            "64:ff9b::11ab:4e07",
        ])
    func outside(_ text: String) throws {
        #expect(try !#require(NetworkAddress(text)).isInternal)
    }

    @Test(
        "an internal address has the description of its range",
        arguments: [
            ("100.64.0.1", "an address behind a carrier's NAT"), ("169.254.169.254", "a link-local address"),
            ("::ffff:127.0.0.1", "a loopback address in IPv6"), ("64:ff9b::10.0.0.1", "a private address behind NAT64"),
            ("2002:808:808::1", "a 6to4 address"), ("fd12::1", "a private address"), ("::", "the unspecified address"),
            ("::2", "a reserved address"),
        ])
    func kinds(_ text: String, _ kind: String) throws {
        #expect(try #require(NetworkAddress(text)).internalKind == kind)
    }

    @Test("only a complete address is parsed, and it is printed in its canonical notation")
    func spellings() {
        for text in [
            "", "1", "127.1", "0x7f.0.0.1", "0177.0.0.1", "1.2.3.256", "1.2.3.4 ", "1.2.3.4.5", "::g", "[::1]",
            "fe80::1%1",
            "example.com", "1.2.3.4\u{0}",
        ] { #expect(NetworkAddress(text) == nil, "\(text)") }
        #expect(NetworkAddress("::FFFF:7F00:1")?.description == "::ffff:127.0.0.1")
        #expect(NetworkAddress("2001:0DB8:0:0::1")?.description == "2001:db8::1")
        #expect(NetworkAddress(bytes: [8, 8, 8, 8])?.description == "8.8.8.8" && NetworkAddress(bytes: [1]) == nil)
    }
}
