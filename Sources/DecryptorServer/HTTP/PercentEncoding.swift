import Vocabulary

/// Percent-encoding of paths and queries, RFC 3986 section 2.1.
package enum PercentEncoding {
    /// - Returns: nil where a `%` is not followed by two hexadecimal digits, or the bytes are not UTF-8.
    package static func decode(_ text: Substring.UTF8View) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var position = text.startIndex
        while position != text.endIndex {
            let byte = text[position]
            text.formIndex(after: &position)
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = text[position...].prefix(2)
            guard let decoded = Hex.decode(String(decoding: digits, as: UTF8.self)), decoded.count == 1 else {
                return nil
            }
            bytes += decoded
            position = digits.endIndex
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
