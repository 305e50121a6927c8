/// Reads the members (fields) of a JSON object by name and type. Call ``refuseUnknown()`` after the last read, to
/// refuse an object with members that were not read.
///
/// A member that is null is refused, because its meaning would not be clear: in a request, null could mean the default,
/// "leave unchanged" or "remove the value". ``acceptingNull()`` reads such a member as if it was absent.
package struct JSONFields {
    let object: JSONObject
    /// The path of the object with a final dot, such as `expected.`; empty for the outermost object.
    let path: String
    private var namesRead: Set<String> = []
    private var acceptsNull = false

    package init(_ object: JSONObject, at path: String = "") {
        self.object = object
        self.path = path
    }

    /// - Throws: ``JSONFault`` unless the whole text is one object.
    package init(parsing bytes: some Collection<UInt8>, limits: JSONLimits = .request) throws(JSONFault) {
        let value = try JSONParser.parse(bytes, limits: limits)
        guard case .object(let object) = value else { throw JSONFault("found \(value.kind), expected a JSON object") }
        self.init(object)
    }

    /// The same members, but a member that is null counts as absent. Use this for Apple's documents, such as payment
    /// tokens: a field that Apple adds later may be null.
    package func acceptingNull() -> JSONFields {
        var fields = self
        fields.acceptsNull = true
        return fields
    }

    /// The member's value; nil if the member is absent, or if it is null and the fields accept null.
    ///
    /// - Throws: ``JSONFault`` if the member is null, unless the fields accept null.
    package mutating func value(_ name: String) throws(JSONFault) -> JSONValue? {
        namesRead.insert(name)
        guard let value = object[name] else { return nil }
        guard value == .null else { return value }
        guard acceptsNull else { throw .null("\(path)\(name)") }
        return nil
    }

    package mutating func string(_ name: String) throws(JSONFault) -> String? {
        guard let value = try value(name) else { return nil }
        guard case .string(let text) = value else { throw wrongType(name, value, "a string") }
        return text
    }

    package mutating func requiredString(_ name: String) throws(JSONFault) -> String {
        guard let text = try string(name) else { throw JSONFault("'\(path)\(name)' is missing, expected a string") }
        return text
    }

    package mutating func bool(_ name: String) throws(JSONFault) -> Bool? {
        guard let value = try value(name) else { return nil }
        guard case .bool(let isTrue) = value else { throw wrongType(name, value, "a boolean") }
        return isTrue
    }

    /// The members of a nested object, which also accept null if these fields do; nil if the member is absent.
    package mutating func fields(_ name: String) throws(JSONFault) -> JSONFields? {
        guard let value = try value(name) else { return nil }
        guard case .object(let inner) = value else { throw wrongType(name, value, "an object") }
        let fields = JSONFields(inner, at: "\(path)\(name).")
        return acceptsNull ? fields.acceptingNull() : fields
    }

    package mutating func requiredFields(_ name: String) throws(JSONFault) -> JSONFields {
        guard let inner = try fields(name) else { throw JSONFault("'\(path)\(name)' is missing, expected an object") }
        return inner
    }

    /// The members that were not read, in their order in the text.
    package var unknown: [JSONObject.Member] { object.members.filter { !namesRead.contains($0.name) } }

    /// - Throws: ``JSONFault`` naming the first member that was not read.
    package func refuseUnknown() throws(JSONFault) {
        guard let unknown = unknown.first else { return }
        let known = namesRead.sorted().map { "'\($0)'" }.joined(separator: ", ")
        throw JSONFault("unknown field '\(path)\(unknown.name.prefix(64))', expected only \(known)")
    }

    private func wrongType(_ name: String, _ value: JSONValue, _ expected: String) -> JSONFault {
        JSONFault("'\(path)\(name)' is \(value.kind), expected \(expected)")
    }
}
