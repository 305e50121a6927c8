/// Identifies an invitation to the portal: 16 lower-case hexadecimal digits, chosen at random.
///
/// The identifier is not secret: lists and the audit show it. It does not open a session; only the secret in the
/// invitation's link does.
package struct InvitationIdentifier: TextValue {
    package static let length = 16
    package let rawValue: String

    /// - Returns: nil unless the text has the form above.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.count == Self.length, text.utf8.allSatisfy(Self.isDigit) else { return nil }
        rawValue = String(text)
    }

    package init?(text: String) { self.init(text) }

    private init(random value: UInt64) {
        let digits = String(value, radix: 16)
        rawValue = String(repeating: "0", count: Self.length - digits.count) + digits
    }

    /// A new random identifier.
    package static func random() -> InvitationIdentifier { InvitationIdentifier(random: .random(in: .min ... .max)) }

    package var text: String { rawValue }

    /// The end of an error message. The caller writes the name of a field before it.
    package static func refusal(of text: String) -> String { "is not an invitation identifier, \(expectation)" }

    /// The part of error messages that says which text is expected.
    package static let expectation = "expected 16 lower-case hexadecimal digits"

    private static func isDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
        default: false
        }
    }
}
