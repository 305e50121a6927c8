import Secrets
import StrictJSON

/// Parses the JSON text of card data, and wipes the values that the parser created from it.
enum CardText {
    /// The limit of bytes is far above the length of real card data, which has about 400 bytes.
    static let limits = JSONLimits(bytes: 16_384, depth: 6, values: 256)

    static func parse(_ bytes: some Collection<UInt8>) throws(CardDataFinding) -> JSONObject {
        let value: JSONValue
        do throws(JSONFault) { value = try JSONParser.parse(bytes, limits: limits) } catch {
            // The parser's message quotes the name that occurs twice. If a caller wrote a value as a name by mistake,
            // the message would disclose this value.
            if error.description.hasSuffix("twice, expected each name once") {
                throw CardDataFinding(.duplicateKey, "a key occurs twice in the card data")
            }
            throw CardDataFinding(.notJSON, "the card data is not valid JSON: \(error.description)")
        }
        guard case .object(let object) = value else {
            wipe(value)
            throw CardDataFinding(.notObject, "the card data is \(value.kind), expected an object")
        }
        return object
    }

    /// Overwrites the texts in a parsed value, but not the names of members. No code may read the value again.
    ///
    /// Texts of up to 15 bytes have no buffer of their own: the arrays of the value contain them. The daemon's memory
    /// allocator overwrites these arrays when it frees them.
    static func wipe(_ value: JSONValue) {
        switch value {
        case .string(let text), .number(let text): Wipe.sharedBytes(of: text)
        case .array(let items): items.forEach(wipe)
        case .object(let object): wipe(object)
        case .null, .bool: break
        }
    }

    /// Overwrites the texts in a parsed object, but not the names of members. No code may read the object again.
    static func wipe(_ object: JSONObject) {
        for member in object.members { wipe(member.value) }
    }
}
