import FoundationEssentials

/// Encodes documents as JSON. Do not encode secrets with this type, because JSONEncoder leaves copies in memory.
enum JSONBytes {
    /// The members are sorted by name, and slashes are not escaped.
    static func encode(_ document: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(document))
        } catch {
            preconditionFailure("a document of strings, integers and booleans can always be encoded: \(error)")
        }
    }
}
