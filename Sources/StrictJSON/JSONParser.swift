/// Limits on the JSON text that the parser accepts.
package struct JSONLimits: Sendable {
    /// The length of the text in bytes.
    package var bytes: Int
    /// The number of levels of nesting. The outermost value is level 1.
    package var depth: Int
    /// The number of values in the whole text, including objects and arrays.
    package var values: Int

    package init(bytes: Int, depth: Int, values: Int) {
        self.bytes = bytes
        self.depth = depth
        self.values = values
    }

    /// The limits of a request's body: 64 KiB, 16 levels, 4,096 values.
    package static let request = JSONLimits(bytes: 65_536, depth: 16, values: 4_096)
}

/// A strict parser of RFC 8259. Refuses bytes after the value, a name that occurs twice in an object, bytes that are
/// not UTF-8, and texts above the limits.
package struct JSONParser {
    package static func parse(
        _ bytes: some Collection<UInt8>, limits: JSONLimits = .request
    ) throws(JSONFault) -> JSONValue {
        guard bytes.count <= limits.bytes else {
            throw JSONFault("the JSON text has \(bytes.count) bytes, expected at most \(limits.bytes)")
        }
        guard !bytes.isEmpty else { throw JSONFault("found an empty body, expected JSON") }
        var parser = JSONParser(bytes: Array(bytes), limits: limits)
        parser.skipBlanks()
        let value = try parser.value(depth: 1)
        parser.skipBlanks()
        guard parser.position == parser.bytes.count else {
            throw JSONFault("found bytes after the end of the JSON text, at byte \(parser.position)")
        }
        return value
    }

    private let bytes: [UInt8]
    private let limits: JSONLimits
    /// The index of the next byte.
    private var position = 0
    /// How many values were read, including objects and arrays.
    private var valueCount = 0

    private init(bytes: [UInt8], limits: JSONLimits) {
        self.bytes = bytes
        self.limits = limits
    }

    private func peek() -> UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipBlanks() {
        while let byte = peek(), byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private func fault(expected: String) -> JSONFault {
        let found = position < bytes.count ? "an unexpected byte" : "the end"
        return JSONFault("found \(found) at byte \(position) of the JSON text, expected \(expected)")
    }

    private mutating func value(depth: Int) throws(JSONFault) -> JSONValue {
        guard depth <= limits.depth else {
            throw JSONFault("the JSON text has more than \(limits.depth) levels of nesting")
        }
        valueCount += 1
        guard valueCount <= limits.values else {
            throw JSONFault("the JSON text has more than \(limits.values) values")
        }
        switch peek() {
        case UInt8(ascii: "{"): return .object(try object(depth: depth))
        case UInt8(ascii: "["): return .array(try array(depth: depth))
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        case .some(UInt8(ascii: "-")), .some(UInt8(ascii: "0")...UInt8(ascii: "9")): return .number(try number())
        default: throw fault(expected: "a JSON value")
        }
    }

    private mutating func literal(_ text: StaticString, _ value: JSONValue) throws(JSONFault) -> JSONValue {
        let matches = text.withUTF8Buffer { bytes[position...].starts(with: $0) }
        guard matches else { throw fault(expected: "a JSON value") }
        position += text.utf8CodeUnitCount
        return value
    }

    private mutating func object(depth: Int) throws(JSONFault) -> JSONObject {
        position += 1
        var members: [JSONObject.Member] = []
        var names: Set<String> = []
        skipBlanks()
        if peek() == UInt8(ascii: "}") {
            position += 1
            return JSONObject(members: [])
        }
        while true {
            skipBlanks()
            guard peek() == UInt8(ascii: "\"") else { throw fault(expected: "a member's name") }
            let name = try string()
            guard names.insert(name).inserted else {
                throw JSONFault("found the field '\(name.prefix(64))' twice, expected each name once")
            }
            skipBlanks()
            guard peek() == UInt8(ascii: ":") else { throw fault(expected: "':'") }
            position += 1
            skipBlanks()
            members.append(.init(name: name, value: try value(depth: depth + 1)))
            skipBlanks()
            switch peek() {
            case UInt8(ascii: ","): position += 1
            case UInt8(ascii: "}"):
                position += 1
                return JSONObject(members: members)
            default: throw fault(expected: "',' or '}'")
            }
        }
    }

    private mutating func array(depth: Int) throws(JSONFault) -> [JSONValue] {
        position += 1
        var items: [JSONValue] = []
        skipBlanks()
        if peek() == UInt8(ascii: "]") {
            position += 1
            return []
        }
        while true {
            skipBlanks()
            items.append(try value(depth: depth + 1))
            skipBlanks()
            switch peek() {
            case UInt8(ascii: ","): position += 1
            case UInt8(ascii: "]"):
                position += 1
                return items
            default: throw fault(expected: "',' or ']'")
            }
        }
    }

    private mutating func number() throws(JSONFault) -> String {
        let start = position
        if peek() == UInt8(ascii: "-") { position += 1 }
        if peek() == UInt8(ascii: "0") { position += 1 } else { try digits() }
        if peek() == UInt8(ascii: ".") {
            position += 1
            try digits()
        }
        if peek() == UInt8(ascii: "e") || peek() == UInt8(ascii: "E") {
            position += 1
            if peek() == UInt8(ascii: "+") || peek() == UInt8(ascii: "-") { position += 1 }
            try digits()
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func digits() throws(JSONFault) {
        let start = position
        while let byte = peek(), byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { position += 1 }
        guard position > start else { throw fault(expected: "a digit") }
    }

    private mutating func string() throws(JSONFault) -> String {
        position += 1
        let start = position
        // Most strings have no escapes. For speed, all bytes before the first escape are decoded in one call.
        while let byte = peek(), byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 { position += 1 }
        var text = try utf8(bytes[start..<position])
        while let byte = peek() {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return text
            case UInt8(ascii: "\\"):
                position += 1
                text.unicodeScalars.append(try escape())
            case 0..<0x20: throw fault(expected: "no control character in a string")
            default:
                let start = position
                while let byte = peek(), byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 {
                    position += 1
                }
                text += try utf8(bytes[start..<position])
            }
        }
        throw fault(expected: "the end of a string")
    }

    private func utf8(_ slice: ArraySlice<UInt8>) throws(JSONFault) -> String {
        guard let text = String(validating: slice, as: UTF8.self) else {
            throw JSONFault("found bytes that are not UTF-8 in a JSON string")
        }
        return text
    }

    private mutating func escape() throws(JSONFault) -> Unicode.Scalar {
        guard let byte = peek() else { throw fault(expected: "an escape") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            // Characters above U+FFFF are written as two escapes, a surrogate pair (RFC 8259 section 7).
            let unit = try hex4()
            if let scalar = Unicode.Scalar(unit) { return scalar }
            guard (0xD800..<0xDC00).contains(unit), peek() == UInt8(ascii: "\\") else {
                throw fault(expected: "a surrogate pair")
            }
            position += 1
            guard peek() == UInt8(ascii: "u") else { throw fault(expected: "a surrogate pair") }
            position += 1
            let low = try hex4()
            guard (0xDC00..<0xE000).contains(low),
                let scalar = Unicode.Scalar(0x10000 + (UInt32(unit) - 0xD800) << 10 + (UInt32(low) - 0xDC00))
            else { throw fault(expected: "a surrogate pair") }
            return scalar
        default: throw fault(expected: "an escape")
        }
    }

    private mutating func hex4() throws(JSONFault) -> UInt16 {
        guard position + 4 <= bytes.count,
            let unit = UInt16(String(decoding: bytes[position..<position + 4], as: UTF8.self), radix: 16),
            // `UInt16.init` would also accept a sign.
            bytes[position] != UInt8(ascii: "+"), bytes[position] != UInt8(ascii: "-")
        else { throw fault(expected: "four hexadecimal digits") }
        position += 4
        return unit
    }
}
