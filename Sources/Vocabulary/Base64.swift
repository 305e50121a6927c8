package import FoundationEssentials

/// Base64 with one accepted spelling, RFC 4648 sections 4 and 5.
package enum Base64 {
    /// Standard alphabet, padded, no line breaks, no unused bits set: the spelling that Apple sends and the daemon accepts.
    ///
    /// - Returns: nil for anything else, so that one value has exactly one spelling.
    package static func decode(_ text: String) -> Data? {
        guard let data = Data(base64Encoded: text) else { return nil }
        return data.base64EncodedString() == text ? data : nil
    }

    /// The same text with `+` and `/` in place of `-` and `_`.
    static func standardAlphabet(_ text: some StringProtocol) -> String {
        String(text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
    }

    /// The same text with `-` and `_` in place of `+` and `/`.
    static func urlAlphabet(_ text: some StringProtocol) -> String {
        String(text.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
    }
}
