/// The name of a JSON member of the card data, as Apple defines it. The cases are in alphabetical order.
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

    /// The value of `version` that the library writes. Apple deprecated version 0.
    static let currentVersion = "1"
    static let deprecatedVersion = "0"

    /// Whether the library adds the key when it writes the card data. The caller's card must not contain the key.
    var isWrittenByLibrary: Bool { self == .nonce || self == .nonceSignature || self == .version }

    /// A description of the key for messages, such as "the version of the card data". Used only if
    /// ``isWrittenByLibrary``.
    var meaning: String {
        switch self {
        case .nonce: "the nonce of the attempt to add the card, a field of the request"
        case .nonceSignature: "the device's signature of the nonce, a field of the request"
        case .version: "the version of the card data"
        default: "a key of the card"
        }
    }

    /// The key whose name differs from `name` at most in upper and lower case and in separators, such as `networkName`
    /// for `network_name`; nil if there is none.
    static func similar(to name: String) -> CardDataKey? {
        let folded = folded(name)
        return allCases.first { self.folded($0.rawValue) == folded }
    }

    private static func folded(_ name: String) -> String {
        String(name.lowercased().filter { $0 != "_" && $0 != "-" && $0 != " " })
    }

    /// The name of a key for a message. Callers sometimes write a value, such as a card number, as a key by mistake. So
    /// a message quotes only names of up to 40 ASCII letters and underscores. It describes other names by their length.
    static func printable(_ name: String) -> String {
        let isPlain =
            (1...40).contains(name.utf8.count)
            && name.utf8.allSatisfy { (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x5F }
        return isPlain ? "'\(name)'" : "of \(name.count) characters"
    }
}
