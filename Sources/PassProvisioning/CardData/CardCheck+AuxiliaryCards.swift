import StrictJSON

/// The cards of further networks on a co-badged card.
///
/// Apple publishes the key `auxiliaryCards`, but not the form of its objects. This library expects an array of objects
/// with the same keys as the card itself, without `auxiliaryCards`, `nonce`, `nonceSignature` and `version`. The
/// library checks the keys that it knows. It accepts other keys, and reports `auxiliaryKeyNotValidated` for each. The
/// network is not known, so a card number may have any length that some network uses.
extension CardCheck {
    mutating func checkAuxiliaryCards(_ value: JSONValue, at path: String) {
        guard case .array(let items) = value else {
            add(.wrongType, path, "'\(path)' is \(value.kind), expected an array of objects")
            return
        }
        let permitted = Self.auxiliaryCardsCount
        guard permitted.contains(items.count) else {
            add(
                .auxiliaryCardsCount, path,
                "'\(path)' has \(items.count) objects, expected \(permitted.lowerBound) to \(permitted.upperBound)")
            return
        }
        for (index, item) in items.enumerated() {
            let itemPath = "\(path)[\(index)]"
            guard case .object(let card) = item else {
                add(.wrongType, itemPath, "'\(itemPath)' is \(item.kind), expected an object")
                continue
            }
            checkAuxiliaryCard(card, at: itemPath)
        }
    }

    private mutating func checkAuxiliaryCard(_ card: JSONObject, at path: String) {
        for member in card.members {
            guard let key = CardDataKey(rawValue: member.name) else {
                add(
                    .auxiliaryKeyNotValidated, path,
                    "'\(path)' has a key \(CardDataKey.printable(member.name)) that was not checked")
                continue
            }
            let keyPath = "\(path).\(key.rawValue)"
            if key.isWrittenByLibrary || key == .auxiliaryCards {
                add(.forbiddenKey, keyPath, "'\(keyPath)' does not belong to an auxiliary card")
            } else {
                checkAuxiliaryValue(key, member.value, at: keyPath)
            }
        }
        let hasNumber = card[CardDataKey.primaryAccountNumber.rawValue] != nil
        let hasEncryptedNumber = card[CardDataKey.encryptedPrimaryAccountNumber.rawValue] != nil
        if hasNumber && hasEncryptedNumber {
            add(.bothCardNumbers, path, "'\(path)' has both the card number and the encrypted card number")
        } else if !hasNumber && !hasEncryptedNumber {
            add(.noCardNumber, path, "'\(path)' has neither the card number nor the encrypted card number")
        }
    }

    private mutating func checkAuxiliaryValue(_ key: CardDataKey, _ value: JSONValue, at path: String) {
        guard case .string(let text) = value else {
            add(.wrongType, path, "'\(path)' is \(value.kind), expected a string")
            return
        }
        switch key {
        case .encryptedPrimaryAccountNumber: add(EncryptedNumberCheck.findings(text, key: path, network: nil))
        case .expiration: add(CardTextChecks.expiration(text, key: path, at: now))
        case .name: add(CardTextChecks.name(text, key: path))
        case .networkName: add(CardTextChecks.localNetworkName(text, key: path))
        case .primaryAccountNumber: add(CardNumberCheck.findings(text, key: path, network: nil))
        case .primaryAccountNumberPrefix: add(CardTextChecks.prefix(text, key: path, network: nil))
        case .productType: add(CardTextChecks.productType(text, key: path))
        // These keys were refused above.
        case .auxiliaryCards, .nonce, .nonceSignature, .version: break
        }
    }
}
