import StrictJSON

/// Bytes that a JSON library wrote as an array of numbers, from 0 to 255 or from -128 to 127, or as an object with such
/// an array in `data`, such as `{"type":"Buffer","data":[…]}` of Node.js.
struct ByteArrayValue {
    let bytes: [UInt8]

    /// - Returns: nil for every other value, and for an empty array.
    init?(_ value: JSONValue) {
        switch value {
        case .array(let items):
            var bytes: [UInt8] = []
            for item in items {
                guard case .number(let digits) = item, let number = Int(jsonNumber: digits),
                    (-128...255).contains(number)
                else { return nil }
                bytes.append(UInt8(truncatingIfNeeded: number))
            }
            guard !bytes.isEmpty else { return nil }
            self.bytes = bytes
        case .object(let object):
            guard let data = object["data"], let inner = ByteArrayValue(data) else { return nil }
            bytes = inner.bytes
        case .null, .bool, .number, .string: return nil
        }
    }
}
