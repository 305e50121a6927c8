/// Tells addresses of the public Internet from those that lead inside, to the machine itself, or nowhere.
///
/// Source: IANA, IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890).
package enum PublicAddress {
    /// - Parameter bytes: 4 or 16, in network order.
    /// - Returns: nil for a public address; otherwise what it is, for a finding.
    static func objection(to bytes: [UInt8]) -> String? {
        switch bytes.count {
        case 4: objection(ipv4: bytes)
        case 16: objection(ipv6: bytes)
        default: "no IP address"
        }
    }

    /// As above, for an address as people write it.
    package static func objection(toLiteral text: String) -> String? {
        objection(to: NameResolution.literal(text)?.bytes ?? [])
    }

    private static let ipv4Ranges: [(prefix: [UInt8], bits: Int, kind: String)] = [
        ([0, 0, 0, 0], 8, "an address of this network"),
        ([10, 0, 0, 0], 8, "a private address"),
        ([100, 64, 0, 0], 10, "an address behind a carrier's NAT"),
        ([127, 0, 0, 0], 8, "a loopback address"),
        ([169, 254, 0, 0], 16, "a link-local address"),
        ([172, 16, 0, 0], 12, "a private address"),
        ([192, 0, 0, 0], 24, "an address of a protocol's own"),
        ([192, 0, 2, 0], 24, "an address for documentation"),
        ([192, 88, 99, 0], 24, "a 6to4 relay's address"),
        ([192, 168, 0, 0], 16, "a private address"),
        ([198, 18, 0, 0], 15, "an address for benchmarks"),
        ([198, 51, 100, 0], 24, "an address for documentation"),
        ([203, 0, 113, 0], 24, "an address for documentation"),
        ([224, 0, 0, 0], 4, "a multicast address"),
        ([240, 0, 0, 0], 4, "a reserved address"),
    ]

    private static func objection(ipv4 bytes: [UInt8]) -> String? {
        ipv4Ranges.first { matches(bytes, $0.prefix, $0.bits) }?.kind
    }

    /// Only 2000::/3 is given out; within it, these are not public or hide an IPv4 address.
    private static let ipv6Ranges: [(prefix: [UInt8], bits: Int, kind: String)] = [
        ([0x20, 0x01, 0x00, 0x00], 23, "an address of a protocol's own"),
        ([0x20, 0x01, 0x0d, 0xb8], 32, "an address for documentation"),
        ([0x3f, 0xff, 0x00, 0x00], 20, "an address for documentation"),
    ]

    private static func objection(ipv6 bytes: [UInt8]) -> String? {
        if matches(bytes, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff], 96) {
            return objection(ipv4: Array(bytes[12...])).map { "\($0) in IPv6" }
        }
        // NAT64, RFC 6052, and 6to4, RFC 3056: the packets go to the IPv4 address inside.
        if matches(bytes, [0x00, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0], 96) {
            return objection(ipv4: Array(bytes[12...])).map { "\($0) behind NAT64" }
        }
        if matches(bytes, [0x20, 0x02], 16) { return objection(ipv4: Array(bytes[2..<6])).map { "\($0) behind 6to4" } }
        guard matches(bytes, [0x20], 3) else { return kind(outside: bytes) }
        return ipv6Ranges.first { matches(bytes, $0.prefix, $0.bits) }?.kind
    }

    private static func kind(outside bytes: [UInt8]) -> String {
        if bytes.dropLast().allSatisfy({ $0 == 0 }), bytes[15] <= 1 {
            return bytes[15] == 1 ? "a loopback address" : "the unspecified address"
        }
        if matches(bytes, [0xfe, 0x80], 10) { return "a link-local address" }
        if matches(bytes, [0xfc], 7) || matches(bytes, [0xfe, 0xc0], 10) { return "a private address" }
        return bytes[0] == 0xff ? "a multicast address" : "a reserved address"
    }

    private static func matches(_ bytes: [UInt8], _ prefix: [UInt8], _ bits: Int) -> Bool {
        (0..<(bits + 7) / 8).allSatisfy { index in
            let kept = UInt8(truncatingIfNeeded: 0xff00 >> min(8, bits - index * 8))
            return bytes[index] & kept == prefix[index] & kept
        }
    }
}
