/// Writes a JSON value as text. Numbers keep the digits that were read.
package enum JSONText {
    /// Writes no white space, and keeps the order of members.
    package static func compact(_ value: JSONValue) -> String {
        switch value {
        case .array(let items): "[\(items.map(compact).joined(separator: ","))]"
        case .object(let object):
            "{\(object.members.map { "\(quoted($0.name)):\(compact($0.value))" }.joined(separator: ","))}"
        case .null, .bool, .number, .string: scalar(value)
        }
    }

    /// Indents each level by two spaces, and sorts members by name, so that two responses can be compared line by line.
    package static func pretty(_ value: JSONValue, indent: String = "") -> String {
        let deeper = indent + "  "
        switch value {
        case .array(let items) where !items.isEmpty:
            let lines = items.map { deeper + pretty($0, indent: deeper) }
            return "[\n\(lines.joined(separator: ",\n"))\n\(indent)]"
        case .object(let object) where !object.members.isEmpty:
            let lines = object.members.sorted { $0.name < $1.name }
                .map { "\(deeper)\(quoted($0.name)): \(pretty($0.value, indent: deeper))" }
            return "{\n\(lines.joined(separator: ",\n"))\n\(indent)}"
        case .array, .object, .null, .bool, .number, .string: return compact(value)
        }
    }

    private static func scalar(_ value: JSONValue) -> String {
        switch value {
        case .bool(let isTrue): isTrue ? "true" : "false"
        case .number(let digits): digits
        case .string(let text): quoted(text)
        case .null, .array, .object: "null"
        }
    }

    /// Writes a JSON string, RFC 8259 section 7. Also escapes DEL and the C1 control characters, because they control
    /// terminals.
    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\u{0}"..<"\u{20}", "\u{7F}"..."\u{9F}":
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
