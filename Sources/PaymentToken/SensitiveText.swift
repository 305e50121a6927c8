import Secrets

/// Text that belongs to the cardholder: an account number, a cryptogram, a name. It shows itself nowhere by accident.
///
/// Printing, interpolating and reflecting it give a placeholder; it is not `Codable`; equality takes constant time.
public struct SensitiveText: Sendable, Equatable {
    /// The text itself. Whoever reads this answers for where it goes.
    public let exposed: String

    /// Takes a text under protection.
    public init(_ text: String) { exposed = text }

    /// Whether both hold the same text, in a time that does not tell where they differ.
    public static func == (left: Self, right: Self) -> Bool {
        ConstantTime.areEqual(Array(left.exposed.utf8), Array(right.exposed.utf8))
    }

    /// How long it is, and nothing else: `(28 characters)`.
    public var masked: String { "(\(exposed.count) characters)" }

    /// As an account number may be shown: the first six and the last four digits, PCI DSS 4.0 requirement 3.4.1.
    /// Shorter than 13 digits: the last four alone.
    public var maskedAccountNumber: String {
        let shown = exposed.count >= 13 ? 6 : 0
        guard exposed.count > 8 else { return masked }
        return exposed.prefix(shown) + String(repeating: "*", count: exposed.count - shown - 4) + exposed.suffix(4)
    }
}
