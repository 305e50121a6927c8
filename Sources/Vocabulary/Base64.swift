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
        String(text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
    }

    /// Converts a text of Base64 to the alphabet of Base64url: `+` becomes `-`, and `/` becomes `_`.
    static func urlAlphabet(_ text: some StringProtocol) -> String {
        String(text.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
    }
}
