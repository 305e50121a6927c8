/// Writes a JSON value as text. A number has the same digits as in the text that was parsed.
package enum JSONText {
    /// Writes the value without white space. Members of objects keep their order.
    package static func compact(_ value: JSONValue) -> String {
        switch value {
        case .array(let items): "[\(items.map(compact).joined(separator: ","))]"
        case .object(let object):
            "{\(object.members.map { "\(quoted($0.name)):\(compact($0.value))" }.joined(separator: ","))}"
        case .null, .bool, .number, .string: scalar(value)
        }
    }

    /// Indents each level by two spaces, and sorts the members of objects by name, so that two texts can be compared
    /// line by line.
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

    /// Writes a value that is neither an array nor an object.
    private static func scalar(_ value: JSONValue) -> String {
        switch value {
        case .bool(let isTrue): isTrue ? "true" : "false"
        case .number(let digits): digits
        case .string(let text): quoted(text)
        case .null: "null"
        // Never called with an array or an object.
        case .array, .object: "null"
        }
    }

    /// Writes a JSON string, RFC 8259 section 7. Also escapes DEL and the C1 control characters, because they can
    /// control a terminal.
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
