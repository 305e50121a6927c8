/// Percent-encodes text, RFC 3986 section 2.1. Encodes more characters than the RFC requires.
package enum PercentEncoding {
    /// Encodes every byte except digits and lower-case letters. The result is valid in a host, a path segment and a
    /// query value. Because upper-case letters and dots are encoded too, an HTTP library cannot convert a host to lower
    /// case or remove a `..` from a path.
    package static func encode(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                encoded += digits.utf8.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return encoded
    }
}
