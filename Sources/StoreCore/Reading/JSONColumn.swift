import FoundationEssentials

/// Converts a value to and from the JSON text of a column.
package enum JSONColumn {
    /// The longest text that the schema accepts, in bytes.
    static let longest = 65_536

    /// The JSON of a value. Equal values have equal texts.
    package static func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}

extension StoredRow {
    /// Reads a column that contains JSON; nil for NULL.
    func jsonIfAny<Value: Decodable>(_: Value.Type, _ column: String) throws -> Value? {
        guard let text = try textIfAny(column) else { return nil }
        return try value(try? JSONDecoder().decode(Value.self, from: Data(text.utf8)), of: column)
    }
}
