/// Writes a JSON object as Apple's servers do: with the members in the given order and without white space.
struct JSONObjectWriter {
    private var members: [String] = []

    var text: String { "{\(members.joined(separator: ","))}" }

    /// Adds a member whose value is a JSON string.
    mutating func string(_ name: String, _ value: String) {
        literal(name, Self.quoted(value))
    }

    /// Adds a member whose value is JSON text, such as a number, an object or an array.
    mutating func literal(_ name: String, _ json: String) {
        members.append("\(Self.quoted(name)):\(json)")
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case "\u{0}"..<"\u{20}":
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
