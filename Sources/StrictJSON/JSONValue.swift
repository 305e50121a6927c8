/// A value of a parsed JSON text, RFC 8259. The members of an object keep their order, and numbers keep their digits.
///
/// ``JSONParser`` refuses texts that different parsers read differently: duplicate names, bytes after the value,
/// invalid UTF-8, and surrogates that are not in a pair.
package enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    /// The digits as in the text, because a conversion to a floating-point number could change an amount.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)

    /// The kind of the value, for error messages.
    package var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

/// The members of one object in their order in the text. Each name occurs once.
package struct JSONObject: Hashable, Sendable {
    package struct Member: Hashable, Sendable {
        package let name: String
        package let value: JSONValue

        package init(name: String, value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    package let members: [Member]

    package init(members: [Member]) { self.members = members }

    package subscript(_ name: String) -> JSONValue? { members.first { $0.name == name }?.value }
}
