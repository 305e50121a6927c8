import StrictJSON

/// Writes back a JSON value that was read, with numbers as their digits and members in their order.
enum JSONText {
    static func write(_ value: JSONValue) -> String {
        switch value {
        case .null: "null"
        case .bool(let claim): claim ? "true" : "false"
        case .number(let digits): digits
        case .string(let text): quoted(text)
        case .array(let items): "[" + items.map(write).joined(separator: ",") + "]"
        case .object(let object):
            "{" + object.members.map { quoted($0.name) + ":" + write($0.value) }.joined(separator: ",") + "}"
        }
    }

    /// RFC 8259 section 7: the quotation mark, the backslash and control characters are escaped, nothing else.
    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\u{0}"..<"\u{20}":
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
