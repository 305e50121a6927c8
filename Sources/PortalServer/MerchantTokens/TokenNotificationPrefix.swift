import RESTKit
import Vocabulary

/// The beginning of the paths of merchant tokens, at which the portal receives Apple's notifications and devices'
/// requests for usage information: the setting `merchant-tokens.path`. One or more segments of the characters
/// `a-z A-Z 0-9 - . _ ~`, such as `/tokenapi`.
///
/// The first segment must not be the first segment of a page or REST route, because the prefix would hide that route.
package struct TokenNotificationPrefix: TextValue {
    package static let standard = TokenNotificationPrefix(valid: "/tokenapi")
    /// The longest prefix, in characters. Apple accepts a URL of at most 256 characters, which also contains the host
    /// and the secret.
    package static let longest = 64
    package let text: String

    private static let reservedSegments: Set<Substring> = Set(
        (PortalRoutes.all.map(\.path) + PageRoutes.all.map(\.path)).compactMap { $0.split(separator: "/").first })

    package init?(text: String) {
        let segments = text.split(separator: "/", omittingEmptySubsequences: false)
        guard text.utf8.count <= Self.longest, segments.count >= 2, segments[0].isEmpty,
            segments.dropFirst().allSatisfy(Self.isSegment), !Self.reservedSegments.contains(segments[1])
        else { return nil }
        self.text = text
    }

    private init(valid text: String) { self.text = text }

    package static func refusal(of text: String) -> String {
        "is '\(text.prefix(80))', expected a path such as /tokenapi, of at most \(longest) characters, which does not end with a slash or begin with the path of a page or REST route"
    }

    private static func isSegment(_ text: Substring) -> Bool {
        // A client removes the segments `.` and `..` from a path (RFC 3986 section 5.2.4).
        !text.isEmpty && text != "." && text != ".."
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                    UInt8(ascii: "~"):
                    true
                default: false
                }
            }
    }
}
