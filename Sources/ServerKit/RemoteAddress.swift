import Glibc
package import LocalSocket
package import NIOCore

/// The IP address of a client. An IPv4 address that arrives on an IPv6 socket (`::ffff:192.0.2.1`) is an IPv4 address
/// here, so that one client always has one address.
package struct RemoteAddress: Hashable, Sendable, CustomStringConvertible {
    /// 4 bytes (IPv4) or 16 bytes (IPv6), in network order.
    package let bytes: [UInt8]

    private static let mappedPrefix: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]

    /// - Returns: nil if `bytes` has another length than 4 or 16.
    package init?(bytes: [UInt8]) {
        switch bytes.count {
        case 4: self.bytes = bytes
        case 16: self.bytes = Array(bytes.prefix(12)) == Self.mappedPrefix ? Array(bytes.suffix(4)) : bytes
        default: return nil
        }
    }

    /// Reads an IPv4 address such as `192.0.2.1` (four decimal parts), or an IPv6 address such as `2001:db8::1`
    /// (RFC 4291 section 2.2, without zone and brackets).
    package init?(_ text: String) {
        // The longest form has 45 characters. inet_pton reads only up to a zero byte, and would ignore the rest.
        guard text.utf8.count <= 45, !text.utf8.contains(0) else { return nil }
        var buffer = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &buffer) == 1 {
            self.init(bytes: Array(buffer.prefix(4)))
        } else if inet_pton(AF_INET6, text, &buffer) == 1 {
            self.init(bytes: buffer)
        } else {
            return nil
        }
    }

    /// - Returns: nil if the socket address is not an IP address.
    package init?(_ address: SocketAddress?) {
        guard let text = address?.ipAddress else { return nil }
        // A link-local IPv6 address may have a zone: `fe80::1%eth0`.
        self.init(String(text.prefix { $0 != "%" }))
    }

    /// The usual text form; for IPv6, that of RFC 5952.
    package var description: String {
        var text = [CChar](repeating: 0, count: 64)
        _ = inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes, &text, socklen_t(text.count))
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The addresses that the limits treat as one client.
    package var block: AddressBlock { AddressBlock(of: self) }
}

/// The addresses that the limits treat as one client: one IPv4 address, or the /64 network of an IPv6 address.
/// Providers assign at least a /64 network to each customer, so one client can use all of its addresses.
package struct AddressBlock: Hashable, Sendable, CustomStringConvertible {
    /// 4 bytes (IPv4), or the first 8 bytes of an IPv6 address.
    private let bytes: [UInt8]

    fileprivate init(of address: RemoteAddress) { bytes = Array(address.bytes.prefix(8)) }

    /// The IPv4 address, or the IPv6 network such as `2001:db8::/64`.
    package var description: String {
        guard bytes.count == 8 else { return RemoteAddress(bytes: bytes).map(\.description) ?? "" }
        let network = RemoteAddress(bytes: bytes + [UInt8](repeating: 0, count: 8))
        return "\(network.map(\.description) ?? "")/64"
    }

    /// The holder of the block's connections, and of the memory that its requests use.
    package var holder: UserQuotas.Holder { .remote(description) }
}
