import Secrets

/// A sensitive text, such as an account number, a cryptogram or the name of the cardholder.
///
/// It prints as `(redacted)` and is not `Codable`. Comparisons take constant time.
public struct SensitiveText: Sendable, Equatable {
    /// The text itself. Must not be logged.
    public let exposed: String

    /// Creates a sensitive text.
    public init(_ text: String) { exposed = text }

    /// Whether both texts are equal. The comparison takes constant time.
    public static func == (left: Self, right: Self) -> Bool {
        ConstantTime.areEqual(Array(left.exposed.utf8), Array(right.exposed.utf8))
    }

    /// The length of the text instead of the text, for example `(28 characters)`.
    public var masked: String { "(\(exposed.count) characters)" }

    /// The text masked as an account number: it shows the first six and the last four digits (PCI DSS 4.0 requirement
    /// 3.4.1).
    ///
    /// A number of 9 to 12 digits shows only its last four digits. A shorter number shows only its length.
    public var maskedAccountNumber: String {
        let shown = exposed.count >= 13 ? 6 : 0
        guard exposed.count > 8 else { return masked }
        return exposed.prefix(shown) + String(repeating: "*", count: exposed.count - shown - 4) + exposed.suffix(4)
    }
}
