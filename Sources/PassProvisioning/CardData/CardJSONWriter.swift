import Secrets
import StrictJSON

/// Writes card data as JSON directly into memory that is wiped, without a copy in a string.
///
/// Equal values result in equal JSON: the keys of each object are sorted by their UTF-8 encoding, there is no white
/// space, and only the escapes that RFC 8259 section 7 requires are used. So the slash of `expiration` is written as
/// `/`. Apple's sample shows `\/`, which means the same: in JSON, a slash may be escaped but need not be.
enum CardJSONWriter {
    static func secretBytes(_ object: JSONObject) -> SecretBytes {
        let value = JSONValue.object(object)
        var count = 0
        write(value) { _ in count += 1 }
        return SecretBytes(count: count) { memory in
            var position = 0
            write(value) { byte in
                memory[position] = byte
                position += 1
            }
        }
    }

    private static func write(_ value: JSONValue, _ put: (UInt8) -> Void) {
        switch value {
        case .null: writePlain("null", put)
        case .bool(let isTrue): writePlain(isTrue ? "true" : "false", put)
        case .number(let digits): writePlain(digits, put)
        case .string(let text): writeQuoted(text, put)
        case .array(let items):
            put(UInt8(ascii: "["))
            for (index, item) in items.enumerated() {
                if index > 0 { put(UInt8(ascii: ",")) }
                write(item, put)
            }
            put(UInt8(ascii: "]"))
        case .object(let object):
            put(UInt8(ascii: "{"))
            let members = object.members.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
            for (index, member) in members.enumerated() {
                if index > 0 { put(UInt8(ascii: ",")) }
                writeQuoted(member.name, put)
                put(UInt8(ascii: ":"))
                write(member.value, put)
            }
            put(UInt8(ascii: "}"))
        }
    }

    private static func writePlain(_ text: String, _ put: (UInt8) -> Void) {
        for byte in text.utf8 { put(byte) }
    }

    private static func writeQuoted(_ text: String, _ put: (UInt8) -> Void) {
        put(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                put(UInt8(ascii: "\\"))
                put(byte)
            case 0..<0x20:
                writePlain("\\u00", put)
                put(hexDigit(byte >> 4))
                put(hexDigit(byte & 15))
            default: put(byte)
            }
        }
        put(UInt8(ascii: "\""))
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
