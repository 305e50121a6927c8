/// A parsed JSON text, RFC 8259. Members keep their order, and numbers keep their digits.
///
/// The parser refuses texts that parsers interpret differently: duplicate names, trailing bytes, invalid UTF-8, lone
/// surrogates.
package enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    /// The digits as sent: `transactionAmount` must not pass through a floating-point number.
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
