/// Apple's name for a merchant (`merchant.com.example`) or for the platform itself (`platformintegrator.com.example`).
///
/// An identifier has at most 255 ASCII letters, digits, hyphens, underscores and dots, and begins with `merchant.` or
/// `platformintegrator.`. No part between dots is empty. Upper and lower case are different, because certificates
/// contain the SHA-256 of the identifier.
///
/// Source: Apple, "Create a merchant identifier"; "Applying to use the Registration API and configuring IDs".
package struct MerchantIdentifier: TextValue, Comparable {
    package static let longest = 255
    package let rawValue: String

    /// - Returns: nil unless the text has the form above.
    package init?(_ text: some StringProtocol) { self.init(text: String(text)) }

    /// This initializer must be fast, because the store validates an identifier in every row that it reads. So it is
    /// not generic, and reads the text only once.
    package init?(text: String) {
        var text = text
        guard text.withUTF8(Self.isValid) else { return nil }
        rawValue = text
    }

    private static func isValid(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard bytes.count <= longest,
            bytes.starts(with: "merchant.".utf8) || bytes.starts(with: "platformintegrator.".utf8)
        else { return false }
        var isAfterDot = true
        for byte in bytes {
            let isDot = byte == UInt8(ascii: ".")
            guard isAllowed(byte), !(isDot && isAfterDot) else { return false }
            isAfterDot = isDot
        }
        return !isAfterDot
    }

    /// Whether this is the platform's own identifier. The platform's key pairs can serve every merchant whose
    /// registration with Apple names this identifier in `encryptTo`.
    package var isPlatformIntegrator: Bool { rawValue.hasPrefix("platformintegrator.") }

    package var text: String { rawValue }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// The end of an error message. The caller writes the name of a field before it.
    package static func refusal(of text: String) -> String { "is not a merchant identifier, \(expectation)" }

    /// The part of error messages that says which text is expected.
    package static let expectation =
        "expected merchant.… or platformintegrator.… with ASCII letters, digits, '-', '_' and '.', at most 255 characters"

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}
