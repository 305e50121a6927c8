import FoundationEssentials
import Vocabulary

/// Checks of `encryptedPrimaryAccountNumber`: the Base64 encoding of the text that the card network's encryption
/// returned.
///
/// Visa's form is `MBPAD-1-FK-<key identifier>--TDEA-<ciphertext in hexadecimal>`. Some processors write blanks between
/// the two hyphens. The forms of other networks are not published. So for other networks, only the Base64 encoding is
/// checked, unless the text begins with `MBPA` like Visa's.
enum EncryptedNumberCheck {
    static let prefix = "MBPAD-1-FK-"
    private static let activationPrefix = "MBPAC-"
    private static let anyPrefix = "MBPA"
    private static let separator = "-TDEA-"
    /// The maximum length of the Base64 text in characters. Apple publishes no limit; real values have about 200.
    static let longestText = 4_096
    private static let longestKeyIdentifier = 64

    /// - Parameter network: the network of the card; nil if it is not known.
    static func findings(_ text: String, key: String, network: ProvisioningNetwork?) -> [CardDataFinding] {
        guard (1...longestText).contains(text.utf8.count) else {
            return [
                CardDataFinding(
                    .encryptedNumberLength, key: key,
                    "'\(key)' has \(text.utf8.count.counted("character")), expected 1 to \(longestText)")
            ]
        }
        if text.hasPrefix(anyPrefix) {
            return [CardDataFinding(.encryptedNumberNotEncoded, key: key, "'\(key)' was not encoded with Base64")]
                + formFindings(text, key)
        }
        guard let decoded = Base64.decode(text) else {
            return [
                CardDataFinding(
                    .encryptedNumberNotBase64, key: key,
                    "'\(key)' (\(text.utf8.count.counted("character"))) is not Base64")
            ]
        }
        let value = String(decoding: decoded, as: UTF8.self)
        let inner = Base64.decode(value).map { String(decoding: $0, as: UTF8.self) } ?? ""
        if inner.hasPrefix(anyPrefix) {
            return [CardDataFinding(.encryptedNumberBase64Twice, key: key, "'\(key)' was encoded with Base64 twice")]
                + formFindings(inner, key)
        }
        guard network?.company == .visa || value.hasPrefix(anyPrefix) else { return [] }
        return formFindings(value, key)
    }

    private static func formFindings(_ value: String, _ key: String) -> [CardDataFinding] {
        if value.hasPrefix(activationPrefix) {
            return [
                CardDataFinding(
                    .encryptedNumberIsActivationData, key: key,
                    "'\(key)' begins with \(activationPrefix), so it is activation data")
            ]
        }
        let rest = value.dropFirst(prefix.count)
        let separators = rest.ranges(of: separator)
        guard value.hasPrefix(prefix), separators.count == 1, isKeyIdentifier(rest[..<separators[0].lowerBound]) else {
            return [
                CardDataFinding(
                    .encryptedNumberForm, key: key,
                    "'\(key)' (\(value.utf8.count.counted("byte")) decoded) does not have the form "
                        + "\(prefix)<key identifier>-\(separator)<hexadecimal>")
            ]
        }
        let ciphertext = rest[separators[0].upperBound...]
        let digits = ciphertext.utf8
        guard !digits.isEmpty, digits.count.isMultiple(of: 16), Hex.decode(ciphertext) != nil else {
            return [
                CardDataFinding(
                    .encryptedNumberCiphertext, key: key,
                    "the ciphertext in '\(key)' (\(digits.count.counted("character"))) does not consist of blocks of "
                        + "16 hexadecimal digits")
            ]
        }
        return []
    }

    /// - Parameter text: the key identifier, the first hyphen, and blanks that some processors add.
    private static func isKeyIdentifier(_ text: Substring) -> Bool {
        guard let hyphen = text.lastIndex(of: "-") else { return false }
        let identifier = text[..<hyphen]
        return (1...longestKeyIdentifier).contains(identifier.utf8.count)
            && identifier.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            && text[hyphen...].dropFirst().allSatisfy { $0 == " " }
    }
}
