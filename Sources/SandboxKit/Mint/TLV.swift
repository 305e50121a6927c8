import SwiftASN1

/// Just enough of ITU-T X.690 to spell a CMS signature byte for byte: tags are given whole, contents in order.
enum TLV {
    /// A node of definite length, the only form DER has.
    static func definite(_ tag: UInt8, _ contents: [UInt8]...) -> [UInt8] {
        let body = contents.joined()
        return [tag] + length(body.count) + body
    }

    /// A node of indefinite length, which BER alone allows: `80`, the contents, two zero bytes.
    static func indefinite(_ tag: UInt8, _ contents: [UInt8]...) -> [UInt8] {
        [tag, 0x80] + contents.joined() + [0, 0]
    }

    /// A SET OF as DER wants it: members in ascending order of their encodings.
    static func setOf(_ tag: UInt8, _ members: [[UInt8]]) -> [UInt8] {
        let sorted = members.sorted { $0.lexicographicallyPrecedes($1) }
        return definite(tag, Array(sorted.joined()))
    }

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

/// Tags of the universal class (constructed where they always are) and the context tags that CMS uses.
extension TLV {
    static let integer: UInt8 = 0x02
    static let octetString: UInt8 = 0x04
    static let utcTime: UInt8 = 0x17
    static let sequence: UInt8 = 0x30
    static let set: UInt8 = 0x31
    static let context0: UInt8 = 0xA0
    static let context1: UInt8 = 0xA1
    static let null: [UInt8] = [0x05, 0x00]
}
