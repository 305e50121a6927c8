/// Apple's identifier of a merchant token. A merchant token stands for an account number (MPAN) that Apple Pay gives
/// one merchant for recurring, deferred or automatic-reload payments. The identifier is not the account number, and is
/// not secret.
///
/// It has 1 to 64 characters, each one of `a-z A-Z 0-9 - . _ ~ + = :`.
///
/// Source: Apple, Apple Pay Merchant Token Management API, MerchantTokenEventResponse. Apple specifies only the length.
package struct MerchantTokenIdentifier: TextValue, Comparable {
    package static let longest = 64
    package let rawValue: String

    package init?(text: String) {
        guard (1...Self.longest).contains(text.utf8.count),
            text.utf8.allSatisfy({ $0.isUnreserved || Self.isOther($0) })
        else { return nil }
        rawValue = text
    }

    package var text: String { rawValue }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    package static func refusal(of text: String) -> String {
        "is '\(text.prefix(80))', expected 1 to 64 of the characters a-z A-Z 0-9 - . _ ~ + = :"
    }

    private static func isOther(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "+") || byte == UInt8(ascii: "=") || byte == UInt8(ascii: ":")
    }
}

/// Apple's identifier of an event of a merchant token. A notification contains only this identifier.
///
/// It has 1 to 128 characters, each one of `a-z A-Z 0-9 - . _ ~`.
///
/// Source: Apple, Merchant Token Notification Services. Apple specifies no form; these are the characters that need no
/// encoding in a path.
package struct MerchantTokenEventIdentifier: TextValue {
    package static let longest = 128
    package let rawValue: String

    package init?(text: String) {
        guard (1...Self.longest).contains(text.utf8.count), text.utf8.allSatisfy(\.isUnreserved) else { return nil }
        rawValue = text
    }

    package var text: String { rawValue }

    package static func refusal(of text: String) -> String {
        "is '\(text.prefix(80))', expected 1 to 128 of the characters a-z A-Z 0-9 - . _ ~"
    }
}

extension UInt8 {
    /// Whether the byte is an unreserved character of RFC 3986, section 2.3.
    fileprivate var isUnreserved: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
