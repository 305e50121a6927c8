extension JSONFields {
    /// Decodes the whole object as a `Value`.
    ///
    /// Refuses unknown fields, `null`, and values of another type, with an error that names the field.
    ///
    /// A type may throw `DecodingError.dataCorrupted` with a description such as `is not a time`. The error then has
    /// the field's name before this description.
    package func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws(JSONFault) -> Value {
        do {
            // `path` ends with a dot here, but a decoder's path has no final dot.
            return try StrictDecoder.decode(type, from: .object(object), at: String(path.dropLast()))
        } catch let fault as JSONFault {
            throw fault
        } catch {
            throw JSONFault("the JSON text is not a \(Value.self)")
        }
    }
}

/// Decodes one JSON value as a `Decodable` type, and refuses the fields that the type does not read.
struct StrictDecoder: Decoder {
    /// The field names that a type tried to read from one object. All other fields are unknown. This is a class, so
    /// that all containers of a decoder add to the same names.
    final class KnownNames {
        var names: Set<String> = []
    }

    let value: JSONValue
    /// The path of the value, such as `expected.currencyCode`; empty for the outermost value.
    let path: String
    private let known = KnownNames()

    private init(_ value: JSONValue, at path: String) {
        self.value = value
        self.path = path
    }

    /// - Throws: ``JSONFault``, or an error that the type's own `init(from:)` throws.
    static func decode<Value: Decodable>(_ type: Value.Type, from value: JSONValue, at path: String) throws -> Value {
        let decoder = StrictDecoder(value, at: path)
        do {
            let result = try Value(from: decoder)
            try decoder.refuseUnknownFields()
            return result
        } catch DecodingError.dataCorrupted(let context) {
            throw JSONFault("'\(path)' \(context.debugDescription)")
        }
    }

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let object) = value else { throw wrongType("an object") }
        return KeyedDecodingContainer(StrictObject(object, at: path.isEmpty ? "" : "\(path).", known))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let items) = value else { throw wrongType("an array") }
        return StrictArray(items, at: path)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    private func refuseUnknownFields() throws(JSONFault) {
        guard case .object(let object) = value,
            let unknown = object.members.first(where: { !known.names.contains($0.name) })
        else { return }
        let names = known.names.sorted().map { "'\($0)'" }.joined(separator: ", ")
        let prefix = path.isEmpty ? "" : "\(path)."
        throw JSONFault("unknown field '\(prefix)\(unknown.name.prefix(64))', expected only \(names)")
    }

    fileprivate func wrongType(_ expected: String) -> JSONFault {
        path.isEmpty
            ? JSONFault("found \(value.kind), expected \(expected)")
            : JSONFault("'\(path)' is \(value.kind), expected \(expected)")
    }
}

extension StrictDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { value == .null }

    func decode(_ type: Bool.Type) throws -> Bool {
        guard case .bool(let isTrue) = value else { throw wrongType("a boolean") }
        return isTrue
    }

    func decode(_ type: String.Type) throws -> String {
        guard case .string(let text) = value else { throw wrongType("a string") }
        return text
    }

    private func integer<Number: FixedWidthInteger>() throws -> Number {
        guard case .number(let digits) = value, let number = Number(jsonNumber: digits) else {
            throw wrongType("an integer")
        }
        return number
    }

    func decode(_ type: Double.Type) throws -> Double {
        guard case .number(let digits) = value, let number = Double(digits) else { throw wrongType("a number") }
        return number
    }

    func decode(_ type: Float.Type) throws -> Float { Float(try decode(Double.self)) }

    func decode(_ type: Int.Type) throws -> Int { try integer() }

    func decode(_ type: Int8.Type) throws -> Int8 { try integer() }

    func decode(_ type: Int16.Type) throws -> Int16 { try integer() }

    func decode(_ type: Int32.Type) throws -> Int32 { try integer() }

    func decode(_ type: Int64.Type) throws -> Int64 { try integer() }

    func decode(_ type: UInt.Type) throws -> UInt { try integer() }

    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer() }

    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer() }

    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer() }

    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer() }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try StrictDecoder.decode(type, from: value, at: path)
    }
}
