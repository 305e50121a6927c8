import FoundationEssentials
// URLComponents converts names only if this module is linked.
import FoundationInternationalization

extension DomainName {
    /// Reads a name as people write it: ASCII in either case, or Unicode, which is converted by IDNA (UTS #46,
    /// non-transitional) to its `xn--` form.
    ///
    /// - Returns: nil unless the text is a domain name: URLs, addresses, single labels and names that IDNA refuses are not.
    package init?(anySpelling text: String) {
        // Conversion never makes a name shorter: each character becomes at least one byte or a dot.
        guard (1...4 * Self.longest).contains(text.utf8.count) else { return nil }
        guard !text.utf8.allSatisfy({ $0 < 0x80 }) else {
            self.init(ascii: text)
            return
        }
        var components = URLComponents()
        components.scheme = "https"
        components.host = text
        // A name that IDNA refuses is returned percent-encoded, which is not a valid label.
        guard let host = components.encodedHost else { return nil }
        self.init(ascii: host)
    }
}
