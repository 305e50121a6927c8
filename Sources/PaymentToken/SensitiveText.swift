import Secrets
import Vocabulary

/// A sensitive text, such as an account number, a cryptogram or the name of the cardholder.
///
/// It prints as `(redacted)` and is not `Codable`. Comparisons take constant time.
public struct SensitiveText: Sendable, Equatable {
    /// The text itself. Must not be logged.
    public let unredacted: String

    /// Creates a sensitive text.
    public init(_ text: String) { unredacted = text }

    /// Whether both texts are equal. The comparison takes constant time.
    public static func == (left: Self, right: Self) -> Bool {
        ConstantTime.areEqual(Array(left.unredacted.utf8), Array(right.unredacted.utf8))
    }

    /// The length of the text instead of the text, for example `(28 characters)`.
    public var masked: String { "(\(unredacted.count.counted("character")))" }

    /// The text masked as an account number: only the first six and the last four digits are visible (PCI DSS 4.0
    /// requirement 3.4.1).
    ///
    /// Of a number of 9 to 12 digits, only the last four digits are visible. Of a shorter number, only the length is
    /// visible.
    public var maskedAccountNumber: String {
        let visiblePrefixLength = unredacted.count >= 13 ? 6 : 0
        guard unredacted.count > 8 else { return masked }
        return unredacted.prefix(visiblePrefixLength)
            + String(repeating: "*", count: unredacted.count - visiblePrefixLength - 4) + unredacted.suffix(4)
    }
}
