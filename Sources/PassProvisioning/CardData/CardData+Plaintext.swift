public import FoundationEssentials
package import Secrets
import StrictJSON

extension CardData {
    /// Checks a decrypted plaintext. Returns the findings, including warnings.
    ///
    /// The check accepts only what the published formats of card data permit. White space does not matter, and the keys
    /// can be in any order.
    ///
    /// - Parameters:
    ///   - plaintext: the decrypted bytes.
    ///   - network: the network of the card; nil if it is not known.
    ///   - configuration: the form of the card data; nil to determine it from the keys.
    ///   - now: the time at which the card must not have expired; nil to skip this check.
    public static func findings(
        plaintext: UnsafeRawBufferPointer, network: ProvisioningNetwork?, configuration: CardConfiguration? = nil,
        at now: Date? = nil
    ) -> [CardDataFinding] {
        let text = PlaintextText(plaintext)
        guard let object = text.object else { return text.findings }
        defer { CardText.wipe(object) }
        var check = CardCheck(
            form: .plaintext, configuration: configuration ?? self.configuration(of: object, network: network),
            network: network ?? self.network(of: object), at: now)
        check.requireOneCardNumber(object, configuration: configuration)
        check.check(object)
        return text.findings + check.findings
    }

    /// Checks a decrypted plaintext like the method that takes a pointer.
    package static func findings(
        plaintext: borrowing SecretBytes, network: ProvisioningNetwork?, configuration: CardConfiguration? = nil,
        at now: Date? = nil
    ) -> [CardDataFinding] {
        plaintext.withUnsafeBytes { findings(plaintext: $0, network: network, configuration: configuration, at: now) }
    }

    /// Determines the configuration of card data from its keys.
    ///
    /// - Returns: nil if the card data has both or neither of the card numbers, and its keys and network do not show
    ///   that it has configuration 2.
    static func configuration(of card: JSONObject, network: ProvisioningNetwork?) -> CardConfiguration? {
        let hasNumber = card[CardDataKey.primaryAccountNumber.rawValue] != nil
        let hasEncryptedNumber = card[CardDataKey.encryptedPrimaryAccountNumber.rawValue] != nil
        // Configuration 2 (`networkSpecific`) has keys that Apple does not publish. So unknown keys, or the absence of
        // both card numbers, mean configuration 2, if the network uses it.
        let canBeNetworkSpecific = network.map { CardConfiguration.networkSpecific.availability(for: $0) == .published }
        let hasOtherKeys = card.members.contains {
            CardDataKey(rawValue: $0.name) == nil && CardDataKey.similar(to: $0.name) == nil
        }
        if canBeNetworkSpecific == true && (hasOtherKeys || !hasNumber && !hasEncryptedNumber) {
            return .networkSpecific
        }
        guard hasNumber != hasEncryptedNumber else { return nil }
        return hasNumber ? .cardNumber : .encryptedCardNumber
    }

    /// The network that the card data names; nil if it names none, or an unknown network.
    static func network(of card: JSONObject) -> ProvisioningNetwork? {
        guard case .string(let name) = card[CardDataKey.networkName.rawValue] else { return nil }
        return ProvisioningNetwork(rawValue: name)
    }
}

extension CardCheck {
    /// Reports a plaintext whose configuration cannot be determined.
    ///
    /// - Parameter configuration: the configuration that the caller gave. If it is not nil, this method reports
    ///   nothing, because other findings name each wrong key.
    fileprivate mutating func requireOneCardNumber(_ card: JSONObject, configuration given: CardConfiguration?) {
        guard given == nil, configuration == nil else { return }
        if card[CardDataKey.primaryAccountNumber.rawValue] != nil {
            add(.bothCardNumbers, "", "the card data has both the card number and the encrypted card number")
        } else {
            add(.noCardNumber, "", "the card data has neither the card number nor the encrypted card number")
        }
    }
}
