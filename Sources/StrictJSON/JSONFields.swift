/// Reads the members of an object by name and type, and at the end refuses the names nobody asked for.
package struct JSONFields {
    private let object: JSONObject
    private let path: String
    private var asked: Set<String> = []

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

    /// The member's value; nil where it is absent or null.
    package mutating func value(_ name: String) -> JSONValue? {
        asked.insert(name)
        guard let value = object[name], value != .null else { return nil }
        return value
    }

    package mutating func string(_ name: String) throws(JSONFault) -> String? {
        guard let value = value(name) else { return nil }
        guard case .string(let text) = value else { throw wrong(name, value, "a string") }
        return text
    }

    /// - Throws: ``JSONFault`` where the member is there and null: a change to nothing must not pass for no change.
    package func refuseNull(_ name: String) throws(JSONFault) {
        guard object[name] == .null else { return }
        throw JSONFault("'\(path)\(name)' is null, expected a value, or no such field")
    }

    package mutating func requiredString(_ name: String) throws(JSONFault) -> String {
        guard let text = try string(name) else { throw JSONFault("'\(path)\(name)' is missing, expected a string") }
        return text
    }

    package mutating func bool(_ name: String) throws(JSONFault) -> Bool? {
        guard let value = value(name) else { return nil }
        guard case .bool(let claim) = value else { throw wrong(name, value, "a boolean") }
        return claim
    }

    package mutating func int(_ name: String) throws(JSONFault) -> Int? {
        guard let value = value(name) else { return nil }
        guard case .number(let digits) = value, let number = Int(digits) else { throw wrong(name, value, "an integer") }
        return number
    }

    package mutating func strings(_ name: String) throws(JSONFault) -> [String]? {
        guard let value = value(name) else { return nil }
        guard case .array(let items) = value else { throw wrong(name, value, "an array of strings") }
        var texts: [String] = []
        for item in items {
            guard case .string(let text) = item else { throw wrong(name, item, "an array of strings") }
            texts.append(text)
        }
        return texts
    }

    package mutating func fields(_ name: String) throws(JSONFault) -> JSONFields? {
        guard let value = value(name) else { return nil }
        guard case .object(let inner) = value else { throw wrong(name, value, "an object") }
        return JSONFields(inner, at: "\(path)\(name).")
    }

    package mutating func requiredFields(_ name: String) throws(JSONFault) -> JSONFields {
        guard let inner = try fields(name) else { throw JSONFault("'\(path)\(name)' is missing, expected an object") }
        return inner
    }

    /// The members nobody asked for, in the order sent.
    package var unknown: [JSONObject.Member] { object.members.filter { !asked.contains($0.name) } }

    /// - Throws: ``JSONFault`` naming the first member nobody asked for.
    package func refuseUnknown() throws(JSONFault) {
        guard let stranger = unknown.first else { return }
        let known = asked.sorted().map { "'\($0)'" }.joined(separator: ", ")
        throw JSONFault("unknown field '\(path)\(stranger.name.prefix(64))', expected only \(known)")
    }

    private func wrong(_ name: String, _ value: JSONValue, _ expected: String) -> JSONFault {
        JSONFault("'\(path)\(name)' is \(value.kind), expected \(expected)")
    }
}
