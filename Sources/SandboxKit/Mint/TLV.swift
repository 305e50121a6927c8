import SwiftASN1

/// Encodes the BER and DER elements (tag, length, value; ITU-T X.690) that CMS signatures need. A tag is the whole
/// identifier octet.
enum TLV {
    /// Returns an element of definite length.
    static func definite(_ tag: UInt8, _ contents: [UInt8]...) -> [UInt8] {
        let body = contents.joined()
        return [tag] + length(body.count) + body
    }

    /// Returns an element of indefinite length, which is BER but not DER: the tag, `80`, the contents, two zero bytes.
    static func indefinite(_ tag: UInt8, _ contents: [UInt8]...) -> [UInt8] {
        [tag, 0x80] + contents.joined() + [0, 0]
    }

    /// Returns a SET OF in DER, whose members are sorted by their encodings.
    static func setOf(_ tag: UInt8, _ members: [[UInt8]]) -> [UInt8] {
        let sorted = members.sorted { $0.lexicographicallyPrecedes($1) }
        return definite(tag, Array(sorted.joined()))
    }

    /// Returns the DER encoding of a value, including tag and length.
    static func der(_ value: some DERSerializable) throws -> [UInt8] {
        var serializer = DER.Serializer()
        try serializer.serialize(value)
        return serializer.serializedBytes
    }

    private static func length(_ count: Int) -> [UInt8] {
        if count < 0x80 { return [UInt8(count)] }
        var bytes: [UInt8] = []
        var rest = count
        while rest > 0 {
            bytes.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        }
        return [0x80 | UInt8(bytes.count)] + bytes
    }
}

/// Universal tags, and the context-specific tags that CMS uses.
extension TLV {
    static let integer: UInt8 = 0x02
    static let octetString: UInt8 = 0x04
    static let utcTime: UInt8 = 0x17
    static let sequence: UInt8 = 0x30
    static let set: UInt8 = 0x31
    static let context0: UInt8 = 0xA0
    static let context1: UInt8 = 0xA1
    /// The whole element NULL.
    static let null: [UInt8] = [0x05, 0x00]
}
