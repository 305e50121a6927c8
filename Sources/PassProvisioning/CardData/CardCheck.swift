import FoundationEssentials
import StrictJSON

/// Checks the configuration of one card, then its keys, then its values, and collects the findings in this order.
struct CardCheck {
    enum Form: Sendable {
        /// The caller's card, without the keys that the library adds.
        case request
        /// The decrypted card data, with all keys.
        case plaintext
    }

    static let auxiliaryCardsCount = 1...4

    let form: Form
    /// Nil if the configuration cannot be determined. Then the caller's keys are neither required nor forbidden.
    let configuration: CardConfiguration?
    /// Nil if the network is not known.
    let network: ProvisioningNetwork?
    /// The time with which expiration dates are compared; nil if they are not compared.
    let now: Date?
    private(set) var findings: [CardDataFinding] = []

    init(form: Form, configuration: CardConfiguration?, network: ProvisioningNetwork?, at now: Date?) {
        self.form = form
        self.configuration = configuration
        self.network = network
        self.now = now
    }

    mutating func check(_ card: JSONObject) {
        checkConfiguration()
        let rules = CardDataKeyRules(configuration)
        if card.members.isEmpty && rules.required.isEmpty && form == .request {
            add(.emptyCard, "", "the card has no key")
        }
        for member in card.members { checkName(member, rules) }
        for key in CardDataKey.allCases where isRequired(key, rules) && card[key.rawValue] == nil {
            add(.missingKey, key.rawValue, "'\(key.rawValue)' is missing")
        }
        for key in CardDataKey.allCases {
            guard let value = card[key.rawValue] else { continue }
            if form == .request && key.isWrittenByLibrary { continue }
            checkValue(key, value, at: key.rawValue)
        }
    }

    private mutating func checkConfiguration() {
        guard let configuration else { return }
        if let network {
            switch configuration.availability(for: network) {
            case .published: break
            case .unusual:
                add(
                    .configurationUnusual, "",
                    "configuration \(configuration.rawValue) is not published for cards of \(network.rawValue)")
            case .unavailable:
                add(
                    .configurationNotAvailable, "",
                    "cards of \(network.rawValue) do not have configuration \(configuration.rawValue)")
                return
            }
        }
        if configuration == .networkSpecific {
            add(
                .configurationNotValidated, "",
                "the keys that distinguish configuration 2 are not published, so they were not checked")
        }
    }

    private func isRequired(_ key: CardDataKey, _ rules: CardDataKeyRules) -> Bool {
        rules.required.contains(key) || form == .plaintext && key.isWrittenByLibrary
    }

    private mutating func checkName(_ member: JSONObject.Member, _ rules: CardDataKeyRules) {
        guard let key = CardDataKey(rawValue: member.name) else {
            if let similar = CardDataKey.similar(to: member.name) {
                add(
                    .unknownKey, similar.rawValue,
                    "the card has a key whose name is written differently from Apple's '\(similar.rawValue)'")
            } else if !rules.hasUnpublishedKeys {
                add(.unknownKey, "", "the card has an unknown key \(CardDataKey.printable(member.name))")
            }
            return
        }
        if form == .request && key.isWrittenByLibrary {
            if key == .version && member.value == .string(CardDataKey.deprecatedVersion) {
                add(.versionDeprecated, key.rawValue, "'version' is \"0\", which Apple deprecated")
            } else {
                add(.reservedKey, key.rawValue, "the card contains '\(key.rawValue)', which is \(key.meaning)")
            }
        } else if rules.forbidden.contains(key) {
            let owner = configuration.map { "configuration \($0.rawValue)" } ?? "this configuration"
            add(.forbiddenKey, key.rawValue, "'\(key.rawValue)' does not belong to \(owner)")
        }
    }

    // MARK: - Values

    private mutating func checkValue(_ key: CardDataKey, _ value: JSONValue, at path: String) {
        if key == .auxiliaryCards {
            checkAuxiliaryCards(value, at: path)
            return
        }
        guard case .string(let text) = value else {
            add(.wrongType, path, "'\(path)' is \(value.kind), expected a string")
            return
        }
        switch key {
        // Checked above.
        case .auxiliaryCards: break
        case .encryptedPrimaryAccountNumber:
            findings += EncryptedNumberCheck.findings(text, key: path, network: network)
        case .expiration: findings += CardTextChecks.expiration(text, key: path, at: now)
        case .name: findings += CardTextChecks.name(text, key: path)
        case .networkName: findings += CardTextChecks.networkName(text, key: path, network: network)
        case .nonce: findings += ProvisioningNonce.findings(hex: text)
        case .nonceSignature: findings += NonceSignature.findings(hex: text)
        case .primaryAccountNumber: findings += CardNumberCheck.findings(text, key: path, network: network)
        case .primaryAccountNumberPrefix: findings += CardTextChecks.prefix(text, key: path, network: network)
        case .productType: findings += CardTextChecks.productType(text, key: path)
        case .version: checkVersion(text)
        }
    }

    private mutating func checkVersion(_ text: String) {
        switch text {
        case CardDataKey.currentVersion: break
        case CardDataKey.deprecatedVersion:
            add(.versionDeprecated, CardDataKey.version.rawValue, "'version' is \"0\", which Apple deprecated")
        default: add(.versionUnknown, CardDataKey.version.rawValue, "'version' is neither \"0\" nor \"1\"")
        }
    }

    mutating func add(_ kind: CardDataFinding.Kind, _ key: String, _ message: String) {
        findings.append(CardDataFinding(kind, key: key, message))
    }

    mutating func add(_ more: [CardDataFinding]) { findings += more }
}
