import Glibc

/// An IPv4 or IPv6 address, and whether it lies on the public internet.
package struct NetworkAddress: Hashable, Sendable, CustomStringConvertible {
    /// 4 or 16, in network order.
    package let bytes: [UInt8]

    /// - Returns: nil unless there are 4 or 16 bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// Reads `192.0.2.1` and `2001:db8::1`: four decimal parts, RFC 4291 section 2.2, no zone, no brackets.
    package init?(_ text: String) {
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

    /// As RFC 5952 writes it.
    package var description: String {
        var text = [CChar](repeating: 0, count: 64)
        _ = inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes, &text, socklen_t(text.count))
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

extension NetworkAddress {
    /// Whether a server must not be sent there on somebody else's word: this machine, private and shared networks,
    /// multicast, and everything that IANA has set aside or never given out.
    ///
    /// Sources: IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890), RFC 4291, RFC 6052.
    package var isInternal: Bool {
        bytes.count == 4 ? Self.isInternal4(bytes) : Self.isInternal6(bytes)
    }

    private static func isInternal4(_ bytes: [UInt8]) -> Bool {
        switch (bytes[0], bytes[1], bytes[2]) {
        case (0, _, _), (10, _, _), (127, _, _): true
        // Shared address space of carriers, RFC 6598.
        case (100, 64...127, _): true
        case (169, 254, _), (172, 16...31, _), (192, 168, _): true
        // Protocol assignments, documentation, the 6to4 relay that was withdrawn.
        case (192, 0, 0), (192, 0, 2), (198, 51, 100), (203, 0, 113), (192, 88, 99): true
        // Benchmarks, RFC 2544.
        case (198, 18...19, _): true
        // Multicast, reserved, broadcast.
        case (224..., _, _): true
        default: false
        }
    }

    private static func isInternal6(_ bytes: [UInt8]) -> Bool {
        let begins = { (prefix: [UInt8]) in bytes.starts(with: prefix) }
        let last4 = Array(bytes[12...])
        // IPv4 in IPv6, ::ffff:0:0/96, and through a translator, 64:ff9b::/96.
        if begins([UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]) { return isInternal4(last4) }
        if begins([0x00, 0x64, 0xFF, 0x9B] + [UInt8](repeating: 0, count: 8)) { return isInternal4(last4) }
        // Only 2000::/3 was ever given out; loopback, link-local, unique local and multicast lie outside.
        guard bytes[0] & 0xE0 == 0x20 else { return true }
        // Protocol assignments with Teredo (2001::/23), documentation.
        if begins([0x20, 0x01]), bytes[2] < 2 { return true }
        if begins([0x20, 0x01, 0x0D, 0xB8]) || begins([0x3F, 0xFF]) && bytes[2] < 0x10 { return true }
        // 6to4 carries an IPv4 address.
        return begins([0x20, 0x02])
    }
}
