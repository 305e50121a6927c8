import FoundationEssentials
import MerchantCore

enum GatewayJSON {
    /// Writes fields in alphabetical order, as Apple's reference does, and does not escape slashes.
    static func encode(_ document: some Encodable) throws(GatewayError) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do { return try encoder.encode(document) } catch {
            throw GatewayError(.refused, "the request cannot be written as JSON", mayHaveActed: false)
        }
    }

    static func decode<Document: Decodable>(_ type: Document.Type, from data: Data) throws -> Document {
        try JSONDecoder().decode(type, from: data)
    }
}
