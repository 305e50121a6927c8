package import FoundationEssentials

/// Base64, RFC 4648 sections 4 and 5. Each value has exactly one accepted spelling.
package enum Base64 {
    /// Decodes the spelling that Apple sends: standard alphabet, padded, no line breaks, unused bits zero.
    ///
    /// - Returns: nil for any other text, even if it decodes to the same bytes.
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
