import Vocabulary

/// The nonce of a provisioning attempt: 4 bytes from PassKit, which are used for this attempt only.
public struct ProvisioningNonce: Sendable, Hashable {
    static let length = 4

    /// The bytes: exactly 4.
    public let bytes: [UInt8]

    /// Creates a nonce from 8 hexadecimal digits in upper or lower case.
    ///
    /// - Throws: ``CardDataFinding`` for any other text. If the text has several faults, the error names the innermost
    ///   fault, which occurred first.
    public init(hex: String) throws(CardDataFinding) {
        let text = HexText(hex, permitted: Self.length...Self.length)
        if let fault = text.faults.last { throw Self.finding(fault) }
        bytes = text.bytes ?? []
    }

    /// Every fault of a text that should be a nonce in hexadecimal.
    package static func findings(hex: String) -> [CardDataFinding] {
        HexText(hex, permitted: length...length).faults.map(finding)
    }

    /// The bytes as 8 lower-case hexadecimal digits, as the card data contains them.
    public var hex: String { Hex.encode(bytes) }

    private static func finding(_ fault: HexText.Fault) -> CardDataFinding {
        let key = CardDataKey.nonce.rawValue
        switch fault {
        case .notHexadecimal(let characters):
            return CardDataFinding(
                .nonceNotHexadecimal, key: key,
                "the nonce (\(characters.counted("character"))) is not hexadecimal, expected \(length * 2) digits")
        case .base64:
            return CardDataFinding(
                .nonceBase64, key: key, "the nonce is written in Base64, expected \(length * 2) hexadecimal digits")
        case .hexTwice: return CardDataFinding(.nonceHexTwice, key: key, "the nonce was encoded as hexadecimal twice")
        case .textDecoded(let bytes, let original):
            return CardDataFinding(
                .nonceTextDecoded, key: key,
                "the nonce was decoded as text and encoded again: it has \(bytes.counted("byte")), "
                    + DamagedBytesMessage.original(original))
        case .length(let bytes):
            return CardDataFinding(
                .nonceLength, key: key, "the nonce has \(bytes.counted("byte")), expected \(length)")
        }
    }
}
