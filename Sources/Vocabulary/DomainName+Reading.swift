import FoundationEssentials
// Only where this is linked does URLComponents convert names.
import FoundationInternationalization

extension DomainName {
    /// Reads a name as people write it: ASCII in either case, or Unicode, which is converted by IDNA (UTS #46,
    /// non-transitional) to its `xn--` form.
    ///
    /// - Returns: nil for whatever is no domain name: URLs, addresses, single labels, what IDNA refuses.
    package init?(anySpelling text: String) {
        // A name that fits in ASCII is no longer before: each character becomes a byte or more, or a dot.
        guard (1...4 * Self.longest).contains(text.utf8.count) else { return nil }
        guard !text.utf8.allSatisfy({ $0 < 0x80 }) else {
            self.init(ascii: text)
            return
        }
        var components = URLComponents()
        components.scheme = "https"
        components.host = text
        // What IDNA refuses comes back percent-encoded, which no label has.
        guard let host = components.encodedHost else { return nil }
        self.init(ascii: host)
    }
}
