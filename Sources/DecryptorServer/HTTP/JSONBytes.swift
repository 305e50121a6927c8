import FoundationEssentials

/// Encodes documents as JSON. Do not use it for secrets, because JSONEncoder leaves copies of them in memory.
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
