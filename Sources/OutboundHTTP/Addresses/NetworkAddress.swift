import Glibc

/// An IPv4 or IPv6 address, and whether it lies on the public internet.
package struct NetworkAddress: Hashable, Sendable, CustomStringConvertible {
    /// 4 bytes (IPv4) or 16 bytes (IPv6), in network order.
    package let bytes: [UInt8]

    /// - Returns: nil if `bytes` has another length than 4 or 16.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// Reads an IPv4 address such as `192.0.2.1` (four decimal parts), or an IPv6 address such as `2001:db8::1`
    /// (RFC 4291 section 2.2, without zone and brackets).
    package init?(_ text: String) {
        // The longest form has 45 characters. inet_pton reads only up to a zero byte, and would ignore the rest.
        guard text.utf8.count <= 45, !text.utf8.contains(0) else { return nil }
        var buffer = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &buffer) == 1 {
            bytes = Array(buffer.prefix(4))
        } else if inet_pton(AF_INET6, text, &buffer) == 1 {
            bytes = buffer
        } else {
            return nil
        }
    }

    /// The usual text form; for IPv6, the form of RFC 5952.
    package var description: String {
        var text = [CChar](repeating: 0, count: 64)
        _ = inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes, &text, socklen_t(text.count))
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

extension NetworkAddress {
    /// Whether the address is not on the public internet: this machine, private and shared networks, multicast,
    /// documentation, and other ranges that are reserved or have a special purpose. If an untrusted party controls a
    /// name, the daemon connects to none of the name's internal addresses, unless the settings allow internal
    /// addresses.
    package var isInternal: Bool { internalKind != nil }

    /// The kind of internal address, worded for messages; nil for an address on the public internet.
    ///
    /// Sources: IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890), RFC 4291, RFC 6052.
    package var internalKind: String? {
        bytes.count == 4 ? Self.internalKindOfIPv4(bytes[...]) : Self.internalKindOfIPv6(bytes)
    }

    /// The addresses whose first `bits` bits are those of `prefix`.
    private struct AddressRange {
        let prefix: [UInt8]
        let bits: Int
        let kind: String

        init(_ prefix: [UInt8], _ bits: Int, _ kind: String) {
            self.prefix = prefix
            self.bits = bits
            self.kind = kind
        }

        func contains(_ bytes: ArraySlice<UInt8>) -> Bool {
            zip(bytes, prefix).enumerated().prefix((bits + 7) / 8).allSatisfy { index, pair in
                // The bits of this byte that belong to the prefix.
                let mask = UInt8(truncatingIfNeeded: 0xff00 >> min(8, bits - index * 8))
                return pair.0 & mask == pair.1 & mask
            }
        }
    }

    private static let internalRangesOfIPv4 = [
        AddressRange([0], 8, "an address of \"this network\", 0.0.0.0/8"),
        AddressRange([10], 8, "a private address"),
        AddressRange([100, 64], 10, "an address behind a carrier's NAT"),
        AddressRange([127], 8, "a loopback address"),
        AddressRange([169, 254], 16, "a link-local address"),
        AddressRange([172, 16], 12, "a private address"),
        AddressRange([192, 0, 0], 24, "an address assigned to a protocol"),
        AddressRange([192, 0, 2], 24, "an address for documentation"),
        AddressRange([192, 88, 99], 24, "a 6to4 relay's address"),
        AddressRange([192, 168], 16, "a private address"),
        AddressRange([198, 18], 15, "an address for benchmarks"),
        AddressRange([198, 51, 100], 24, "an address for documentation"),
        AddressRange([203, 0, 113], 24, "an address for documentation"),
        AddressRange([224], 4, "a multicast address"),
        AddressRange([240], 4, "a reserved address"),
    ]

    /// Ranges of IPv6 addresses whose last 4 bytes are the IPv4 address to which packets go. The IPv6 address is
    /// internal if that IPv4 address is internal. The text is appended to the kind of the IPv4 address, as in
    /// "a private address behind NAT64".
    private static let embeddingsOfIPv4 = [
        AddressRange([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff], 96, "in IPv6"),
        AddressRange([0x00, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0], 96, "behind NAT64"),
    ]

    /// Ranges that are not public although they lie in 2000::/3, the only range that IANA has assigned for public
    /// addresses.
    private static let internalRangesOfIPv6 = [
        // Includes Teredo (2001::/32), whose addresses contain an IPv4 address.
        AddressRange([0x20, 0x01, 0x00], 23, "an address assigned to a protocol"),
        AddressRange([0x20, 0x01, 0x0d, 0xb8], 32, "an address for documentation"),
        AddressRange([0x3f, 0xff, 0x00], 20, "an address for documentation"),
        // 6to4 addresses contain an IPv4 address. Packets to such an address go through relays, which RFC 7526
        // deprecates.
        AddressRange([0x20, 0x02], 16, "a 6to4 address"),
    ]

    /// Ranges outside of 2000::/3 whose kind has a name. All other addresses outside of 2000::/3 are reserved.
    private static let knownRangesOutsideAssignedIPv6 = [
        AddressRange([UInt8](repeating: 0, count: 16), 128, "the unspecified address"),
        AddressRange([UInt8](repeating: 0, count: 15) + [1], 128, "a loopback address"),
        AddressRange([0xfe, 0x80], 10, "a link-local address"),
        AddressRange([0xfc], 7, "a private address"),
        AddressRange([0xfe, 0xc0], 10, "a private address"),
        AddressRange([0xff], 8, "a multicast address"),
    ]

    private static func internalKindOfIPv4(_ bytes: ArraySlice<UInt8>) -> String? {
        internalRangesOfIPv4.first { $0.contains(bytes) }?.kind
    }

    private static func internalKindOfIPv6(_ bytes: [UInt8]) -> String? {
        if let embedding = embeddingsOfIPv4.first(where: { $0.contains(bytes[...]) }) {
            return internalKindOfIPv4(bytes[12...]).map { "\($0) \(embedding.kind)" }
        }
        // 2000::/3
        guard AddressRange([0x20], 3, "").contains(bytes[...]) else {
            return knownRangesOutsideAssignedIPv6.first { $0.contains(bytes[...]) }?.kind ?? "a reserved address"
        }
        return internalRangesOfIPv6.first { $0.contains(bytes[...]) }?.kind
    }
}
