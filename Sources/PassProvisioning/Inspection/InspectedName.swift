/// The name of a value that an inspection looks for.
enum InspectedName: String, CaseIterable, Sendable {
    case encryptedPassData
    case ephemeralPublicKey
    case activationData
    case encryptionVersion
    case wrappedKey
    case certificates
    case nonce
    case nonceSignature
    case configuration
    case network
    case card

    /// The names that Apple's own software uses for some values in requests to the broker.
    private static let namesInLogs: [String: InspectedName] = [
        "encryptedCardData": .encryptedPassData, "encryptionScheme": .encryptionVersion,
    ]
    /// Names that issuers' servers use by mistake, in lower case and without separators.
    private static let wrongNames: [String: InspectedName] = [
        "ephemeralkey": .ephemeralPublicKey, "publickey": .ephemeralPublicKey, "encrypteddata": .encryptedPassData,
        "encryptedcarddata": .encryptedPassData, "passdata": .encryptedPassData,
    ]

    /// Finds the value that a name means.
    ///
    /// - Returns: nil if the name means none of the values. `isExact` is true for the name of a case and for a name in
    ///   Apple's logs, and false for a misspelled or wrong name.
    static func meaning(of name: String) -> (value: InspectedName, isExact: Bool)? {
        if let value = InspectedName(rawValue: name) ?? namesInLogs[name] { return (value, true) }
        let folded = String(name.lowercased().filter { $0 != "_" && $0 != "-" && $0 != " " })
        let similar = allCases.first { $0.rawValue.lowercased() == folded }
        guard let value = similar ?? wrongNames[folded] else { return nil }
        return (value, false)
    }

    /// Whether the name is rarely used for anything other than provisioning.
    var isSpecific: Bool {
        switch self {
        case .encryptedPassData, .ephemeralPublicKey, .activationData, .wrappedKey, .nonceSignature, .certificates: true
        case .encryptionVersion, .nonce, .configuration, .network, .card: false
        }
    }

    /// The names to look for in a text that is not JSON, with the longest first, because some names begin with others.
    static var searched: [(name: String, value: InspectedName)] {
        let exact = allCases.filter(\.isSearched).map { (name: $0.rawValue, value: $0) }
        let inLogs = namesInLogs.map { (name: $0.key, value: $0.value) }
        return (exact + inLogs).sorted { ($0.name.utf8.count, $0.name) > ($1.name.utf8.count, $1.name) }
    }

    /// Whether the name is searched for in a text that is not JSON. The other names are common words, or their values
    /// are not strings.
    private var isSearched: Bool {
        switch self {
        case .encryptedPassData, .ephemeralPublicKey, .activationData, .encryptionVersion, .wrappedKey, .nonceSignature,
            .nonce:
            true
        case .certificates, .configuration, .network, .card: false
        }
    }
}
