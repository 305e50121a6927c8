import FoundationEssentials
import Vocabulary

/// Checks of the short texts in card data.
enum CardTextChecks {
    /// The maximum lengths in bytes. Apple publishes no limits; these limits keep the plaintext short.
    static let longestName = 128
    static let longestNetworkName = 64
    static let longestProductType = 32
    static let prefixLength = 6

    static func name(_ text: String, key: String) -> [CardDataFinding] {
        let findings = displayText(text, key: key, longest: longestName)
        guard findings.isEmpty else { return findings }
        if text.unicodeScalars.contains("\u{FFFD}") {
            return [
                CardDataFinding(
                    .nameCharacter, key: key, "'\(key)' contains U+FFFD, which replaces a character that was lost")
            ]
        }
        guard wasReadAsLatin1(text) else { return [] }
        return [
            CardDataFinding(
                .nameTextDecoded, key: key, "'\(key)' looks like UTF-8 that a program read as Latin-1")
        ]
    }

    /// - Parameter now: the time with which the date is compared; nil if it is not compared.
    static func expiration(_ text: String, key: String, at now: Date?) -> [CardDataFinding] {
        let bytes = Array(text.utf8)
        let hasForm =
            bytes.count == 5 && bytes[2] == UInt8(ascii: "/")
            && [bytes[0], bytes[1], bytes[3], bytes[4]].allSatisfy(CardNumberCheck.isDigit)
        guard hasForm else {
            return [
                CardDataFinding(
                    .expirationForm, key: key,
                    "'\(key)' (\(text.count.counted("character"))) is not a date in the form MM/YY")
            ]
        }
        guard (1...12).contains(Int(text.prefix(2)) ?? 0) else {
            return [CardDataFinding(.expirationMonth, key: key, "the month in '\(key)' is not 01 to 12")]
        }
        if let now, CardExpiration.isPast(text, at: now) {
            return [
                CardDataFinding(.expirationPast, key: key, "the month in '\(key)' is over, so the card has expired")
            ]
        }
        return []
    }

    static func productType(_ text: String, key: String) -> [CardDataFinding] {
        let isWord = text.utf8.allSatisfy { byte in
            (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || CardNumberCheck.isDigit(byte)
                || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
        }
        guard isWord, (1...longestProductType).contains(text.utf8.count) else {
            return [
                CardDataFinding(
                    .productTypeForm, key: key,
                    "'\(key)' (\(text.count.counted("character"))) is not a word of 1 to \(longestProductType) ASCII "
                        + "letters, digits, hyphens and underscores")
            ]
        }
        return []
    }

    /// - Parameter network: nil if the network of the card is not known.
    static func prefix(_ text: String, key: String, network: ProvisioningNetwork?) -> [CardDataFinding] {
        guard text.utf8.count == prefixLength, text.utf8.allSatisfy(CardNumberCheck.isDigit) else {
            return [
                CardDataFinding(
                    .cardNumberPrefix, key: key,
                    "'\(key)' (\(text.count.counted("character"))) does not consist of \(prefixLength) digits")
            ]
        }
        return CardNumberRange.findings(text, key: key, network: network)
    }

    /// - Parameter network: nil if the network of the card is not known. Then every name of a network is accepted.
    static func networkName(_ text: String, key: String, network: ProvisioningNetwork?) -> [CardDataFinding] {
        guard let named = ProvisioningNetwork(rawValue: text) else {
            let names = ProvisioningNetwork.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
            return [
                CardDataFinding(
                    .networkNameUnknown, key: key,
                    "'\(key)' (\(text.count.counted("character"))) is not the name of a network, expected one of \(names)"
                )
            ]
        }
        // Networks of one company are accepted for each other, because cards carry the marks of both.
        guard let network, network.company != named.company else { return [] }
        return [
            CardDataFinding(
                .networkNameMismatch, key: key,
                "'\(key)' is '\(named.rawValue)', but the card is a card of \(network.rawValue)")
        ]
    }

    /// The network name of an auxiliary card, which can be a local network that this library does not know.
    static func localNetworkName(_ text: String, key: String) -> [CardDataFinding] {
        displayText(text, key: key, longest: longestNetworkName)
    }

    private static func displayText(_ text: String, key: String, longest: Int) -> [CardDataFinding] {
        do throws(DisplayText.Fault) {
            _ = try DisplayText(text, longest: longest)
            return []
        } catch {
            switch error {
            case .length(let bytes, let longest):
                return [
                    CardDataFinding(
                        .nameLength, key: key, "'\(key)' has \(bytes.counted("byte")), expected 1 to \(longest)")
                ]
            case .blank: return [CardDataFinding(.nameBlank, key: key, "'\(key)' is blank")]
            case .character(let scalar):
                let digits = String(scalar.value, radix: 16, uppercase: true)
                return [
                    CardDataFinding(
                        .nameCharacter, key: key,
                        "'\(key)' contains the character with the hexadecimal code \(digits), which must not be in a name"
                    )
                ]
            }
        }
    }

    /// Whether a text looks like UTF-8 that a program read as Latin-1: encoded in Latin-1, it is valid UTF-8 with
    /// characters outside ASCII.
    private static func wasReadAsLatin1(_ text: String) -> Bool {
        guard text.unicodeScalars.allSatisfy({ $0.value <= 0xFF }) else { return false }
        return TextDecoding(text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }) != nil
    }
}
