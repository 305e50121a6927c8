package import ServerKit
import Vocabulary

/// A range of IP addresses in CIDR notation (RFC 4632, RFC 4291), such as `10.0.0.0/8` or `2001:db8::/32`. An address
/// without a length is a range of one address.
package struct AddressRange: TextValue {
    /// 4 or 16 bytes. All bits after the first `bits` are 0.
    private let prefix: [UInt8]
    private let bits: Int

    package init?(text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = RemoteAddress(String(first)) else { return nil }
        let addressBits = address.bytes.count * 8
        var bits = addressBits
        if parts.count == 2 {
            let length = parts[1]
            guard (1...3).contains(length.utf8.count), length.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let number = Int(length), number <= addressBits
            else { return nil }
            bits = number
        }
        prefix = address.bytes
        self.bits = bits
        // A set bit after the prefix, as in 10.1.2.3/8, is probably a mistake in the settings.
        let masked = prefix.indices.map { prefix[$0] & Self.mask(ofByte: $0, bits: bits) }
        guard masked == prefix else { return nil }
    }

    package var text: String {
        let address = RemoteAddress(bytes: prefix).map(\.description) ?? ""
        return bits == prefix.count * 8 ? address : "\(address)/\(bits)"
    }

    package static func refusal(of text: String) -> String {
        "is '\(text.prefix(64))', expected an IP address, or a range such as 10.0.0.0/8 with zeros after the prefix"
    }

    package func contains(_ address: RemoteAddress) -> Bool {
        guard address.bytes.count == prefix.count else { return false }
        return prefix.indices.allSatisfy { index in
            address.bytes[index] & Self.mask(ofByte: index, bits: bits) == prefix[index]
        }
    }

    /// The bits of one byte that belong to a prefix of `bits` bits.
    private static func mask(ofByte index: Int, bits: Int) -> UInt8 {
        let bitsInByte = min(8, max(0, bits - index * 8))
        return UInt8(truncatingIfNeeded: 0xff00 >> bitsInByte)
    }
}
