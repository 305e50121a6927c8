package import FoundationEssentials

/// Base64, RFC 4648 section 4, and Base64url, section 5. For each value, only one text is accepted.
package enum Base64 {
    /// Decodes Base64 in the form that Apple sends: standard alphabet, padded, no line breaks, unused bits zero.
    ///
    /// - Returns: nil for any other text, even if a less strict decoder would accept the text.
    package static func decode(_ text: String) -> Data? {
        guard let data = Data(base64Encoded: text) else { return nil }
        return data.base64EncodedString() == text ? data : nil
    }

    /// Converts the URL alphabet to the standard one: `-` becomes `+`, and `_` becomes `/`.
    static func standardAlphabet(_ text: some StringProtocol) -> String {
        String(text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
    }

    /// Converts the standard alphabet to the URL one: `+` becomes `-`, and `/` becomes `_`.
    static func urlAlphabet(_ text: some StringProtocol) -> String {
        String(text.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
    }
}
