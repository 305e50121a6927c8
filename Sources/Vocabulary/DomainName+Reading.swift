import FoundationEssentials
// Without this module, URLComponents does not convert Unicode host names to their `xn--` form.
import FoundationInternationalization

extension DomainName {
    /// Reads a domain name as people write it: in ASCII, in upper or lower case, or in Unicode. Converts a Unicode name
    /// to its `xn--` form by IDNA (UTS #46, non-transitional).
    ///
    /// - Returns: nil if the text is not a domain name, such as a URL, an IP address, a single label or a name that
    ///   IDNA refuses.
    package init?(anySpelling text: String) {
        // Refuses long texts before the slow conversion. In UTF-8, one character has at most 4 bytes.
        guard (1...4 * Self.longest).contains(text.utf8.count) else { return nil }
        guard !text.utf8.allSatisfy({ $0 < 0x80 }) else {
            self.init(ascii: text)
            return
        }
        var components = URLComponents()
        components.scheme = "https"
        components.host = text
        // If IDNA refuses the name, `encodedHost` is percent-encoded, and `init(ascii:)` refuses the `%`.
        guard let host = components.encodedHost else { return nil }
        self.init(ascii: host)
    }
}
