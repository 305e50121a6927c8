package import FoundationEssentials

/// Decodes Base64 (RFC 4648 section 4), and converts texts between Base64 and Base64url (section 5).
package enum Base64 {
    /// Decodes Base64 in the form that Apple sends: standard alphabet, padded, no line breaks, unused bits zero.
    ///
    /// - Returns: nil for any other text, even if a less strict decoder would accept it. So exactly one text is
    ///   accepted for each byte sequence.
    package static func decode(_ text: String) -> Data? {
        guard let data = Data(base64Encoded: text) else { return nil }
        return data.base64EncodedString() == text ? data : nil
    }

    /// Converts a text of Base64url to the alphabet of Base64: `-` becomes `+`, and `_` becomes `/`.
    static func standardAlphabet(_ text: some StringProtocol) -> String {
        replacing(UInt8(ascii: "-"), by: UInt8(ascii: "+"), UInt8(ascii: "_"), by: UInt8(ascii: "/"), in: text)
    }

    /// Converts a text of Base64 to the alphabet of Base64url: `+` becomes `-`, and `/` becomes `_`.
    static func urlAlphabet(_ text: some StringProtocol) -> String {
        replacing(UInt8(ascii: "+"), by: UInt8(ascii: "-"), UInt8(ascii: "/"), by: UInt8(ascii: "_"), in: text)
    }

    private static func replacing(
        _ first: UInt8, by newFirst: UInt8, _ second: UInt8, by newSecond: UInt8, in text: some StringProtocol
    ) -> String {
        let bytes = Array(text.utf8).map { $0 == first ? newFirst : $0 == second ? newSecond : $0 }
        return String(decoding: bytes, as: UTF8.self)
    }
}
