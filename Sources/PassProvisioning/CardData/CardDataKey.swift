/// A key of the card data, under Apple's name. The cases are in the order in which the keys are written: by name.
enum CardDataKey: String, CaseIterable, Sendable {
    case auxiliaryCards
    case encryptedPrimaryAccountNumber
    case expiration
    case name
    case networkName
    case nonce
    case nonceSignature
    case primaryAccountNumber
    case primaryAccountNumberPrefix
    case productType
    case version

    /// The value of `version` that this library writes. Apple deprecated version 0.
    static let currentVersion = "1"
    static let deprecatedVersion = "0"

    /// Whether the library writes the key. The caller's card must not contain it.
    var isWrittenByLibrary: Bool { self == .nonce || self == .nonceSignature || self == .version }

    /// The key whose name differs from a name only in upper and lower case and in separators, such as `pan_prefix`.
    static func similar(to name: String) -> CardDataKey? {
        let folded = folded(name)
        return allCases.first { self.folded($0.rawValue) == folded }
    }

    private static func folded(_ name: String) -> String {
        String(name.lowercased().filter { $0 != "_" && $0 != "-" && $0 != " " })
    }

    /// The name of a key for a message. Callers sometimes use a value as a key by mistake, so a name that could be a
    /// card number or a cardholder's name is replaced by its length.
    static func printable(_ name: String) -> String {
        let isPlain =
            (1...40).contains(name.utf8.count)
            && name.utf8.allSatisfy { (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x5F }
        return isPlain ? "'\(name)'" : "of \(name.count) characters"
    }
}
