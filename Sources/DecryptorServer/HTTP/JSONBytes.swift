import FoundationEssentials

/// Documents without secrets as JSON.
enum JSONBytes {
    /// Names are sorted; slashes are not escaped.
    static func encode(_ document: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(document))
        } catch {
            preconditionFailure("documents of strings, integers and booleans encode: \(error)")
        }
    }
}
