// Both containers pass each element to `StrictDecoder`, which alone decides which JSON values fit which Swift types.

/// The members of one object.
struct StrictObject<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let object: JSONObject
    /// The path of the object with a final dot, such as `expected.`; empty for the outermost object.
    private let prefix: String
    private let known: StrictDecoder.KnownNames

    init(_ object: JSONObject, at prefix: String, _ known: StrictDecoder.KnownNames) {
        self.object = object
        self.prefix = prefix
        self.known = known
    }

    /// Always empty, because ``StrictDecoder`` adds the path to errors by itself.
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { object.members.compactMap { Key(stringValue: $0.name) } }

    /// Also records that the type knows the field. Fields that are not recorded are refused as unknown.
    func contains(_ key: Key) -> Bool {
        known.names.insert(key.stringValue)
        return object[key.stringValue] != nil
    }

    /// - Throws: ``JSONFault`` if the member is null, because the meaning of null would not be clear: in a request that
    ///   changes a resource, an absent field means "leave unchanged", and null could mean the same or "remove the
    ///   value".
    func decodeNil(forKey key: Key) throws -> Bool {
        guard contains(key), object[key.stringValue] == .null else { return false }
        throw JSONFault.null("\(prefix)\(key.stringValue)")
    }

    private func member<Value: Decodable>(_ type: Value.Type, _ key: Key, _ kind: String) throws -> Value {
        guard contains(key), let value = object[key.stringValue] else {
            throw JSONFault("'\(prefix)\(key.stringValue)' is missing, expected \(kind)")
        }
        return try StrictDecoder.decode(type, from: value, at: prefix + key.stringValue)
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try member(type, key, "a boolean") }

    func decode(_ type: String.Type, forKey key: Key) throws -> String { try member(type, key, "a string") }

    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try member(type, key, "a number") }

    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try member(type, key, "a number") }

    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try member(type, key, "an integer") }

    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try member(type, key, "an integer") }

    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try member(type, key, "an integer") }

    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try member(type, key, "an integer") }

    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try member(type, key, "an integer") }

    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try member(type, key, "an integer") }

    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try member(type, key, "an integer") }

    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try member(type, key, "an integer") }

    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try member(type, key, "an integer") }

    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try member(type, key, "an integer") }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try member(type, key, "a value")
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> { throw Self.unsupported }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw Self.unsupported }

    func superDecoder() throws -> any Decoder { throw Self.unsupported }

    func superDecoder(forKey key: Key) throws -> any Decoder { throw Self.unsupported }

    /// Nested containers and `superDecoder` are not supported, because no request or response type uses them.
    private static var unsupported: JSONFault { JSONFault("the decoder supports no nested containers") }
}

/// The items of one array.
struct StrictArray: UnkeyedDecodingContainer {
    private let items: [JSONValue]
    private let path: String
    private(set) var currentIndex = 0

    init(_ items: [JSONValue], at path: String) {
        self.items = items
        self.path = path
    }

    /// Always empty, because ``StrictDecoder`` adds the path to errors by itself.
    var codingPath: [any CodingKey] { [] }
    var count: Int? { items.count }
    var isAtEnd: Bool { currentIndex == items.count }

    private mutating func next<Value: Decodable>(_ type: Value.Type) throws -> Value {
        guard !isAtEnd else { throw JSONFault("'\(path)' has too few items, expected more than \(items.count)") }
        defer { currentIndex += 1 }
        return try StrictDecoder.decode(type, from: items[currentIndex], at: path)
    }

    /// Always false, so that decoding a null item throws the error for a value of the wrong type.
    mutating func decodeNil() throws -> Bool { false }

    mutating func decode(_ type: Bool.Type) throws -> Bool { try next(type) }

    mutating func decode(_ type: String.Type) throws -> String { try next(type) }

    mutating func decode(_ type: Double.Type) throws -> Double { try next(type) }

    mutating func decode(_ type: Float.Type) throws -> Float { try next(type) }

    mutating func decode(_ type: Int.Type) throws -> Int { try next(type) }

    mutating func decode(_ type: Int8.Type) throws -> Int8 { try next(type) }

    mutating func decode(_ type: Int16.Type) throws -> Int16 { try next(type) }

    mutating func decode(_ type: Int32.Type) throws -> Int32 { try next(type) }

    mutating func decode(_ type: Int64.Type) throws -> Int64 { try next(type) }

    mutating func decode(_ type: UInt.Type) throws -> UInt { try next(type) }

    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try next(type) }

    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try next(type) }

    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try next(type) }

    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try next(type) }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try next(type) }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> { throw unsupported }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { throw unsupported }

    mutating func superDecoder() throws -> any Decoder { throw unsupported }

    private var unsupported: JSONFault { JSONFault("the decoder supports no nested containers") }
}
