/// RFC 3986 section 2.1, stricter than it must be.
package enum PercentEncoding {
    /// Leaves digits and lower-case letters, encodes every other byte: the result means the same as a host, a path's
    /// part or a query's value, and nothing on the way folds its case or takes `..` out.
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
