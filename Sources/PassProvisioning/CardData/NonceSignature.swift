import Vocabulary

/// The device's signature of the nonce.
///
/// Apple does not publish the form of the signature. Every known signature from a device has 81 bytes and begins with
/// the byte 0x40. This type accepts 64 to 128 bytes; a length other than 81 is reported as a warning.
public struct NonceSignature: Sendable, Hashable {
    static let permittedLength = 64...128
    static let usualLength = 81

    let bytes: [UInt8]

    /// Creates a signature from hexadecimal digits in upper or lower case.
    ///
    /// - Throws: ``CardDataFinding`` for any other text. If the text has several faults, the error names the innermost
    ///   fault, which occurred first.
    public init(hex: String) throws(CardDataFinding) {
        let text = HexText(hex, permitted: Self.permittedLength)
        if let fault = text.faults.last { throw Self.finding(fault) }
        bytes = text.bytes ?? []
    }

    /// Every fault of a text that should be a nonce signature in hexadecimal, and the warning about its length.
    package static func findings(hex: String) -> [CardDataFinding] {
        let text = HexText(hex, permitted: permittedLength)
        guard text.faults.isEmpty, let bytes = text.bytes, bytes.count != usualLength else {
            return text.faults.map(finding)
        }
        return [unusualLength(bytes.count)]
    }

    /// The length in bytes.
    public var count: Int { bytes.count }

    /// The bytes as lower-case hexadecimal digits, as the card data contains them.
    public var hex: String { Hex.encode(bytes) }

    var warnings: [CardDataFinding] { bytes.count == Self.usualLength ? [] : [Self.unusualLength(bytes.count)] }

    private static let key = CardDataKey.nonceSignature.rawValue

    private static func unusualLength(_ bytes: Int) -> CardDataFinding {
        CardDataFinding(
            .nonceSignatureUnusualLength, key: key,
            "the nonce signature has \(bytes.counted("byte")), but the signatures of Apple's devices have \(usualLength)"
        )
    }

    private static func finding(_ fault: HexText.Fault) -> CardDataFinding {
        switch fault {
        case .notHexadecimal(let characters):
            return CardDataFinding(
                .nonceSignatureNotHexadecimal, key: key,
                "the nonce signature (\(characters.counted("character"))) is not hexadecimal")
        case .base64:
            return CardDataFinding(
                .nonceSignatureBase64, key: key, "the nonce signature is written in Base64, expected hexadecimal digits"
            )
        case .hexTwice:
            return CardDataFinding(
                .nonceSignatureHexTwice, key: key, "the nonce signature was encoded as hexadecimal twice")
        case .textDecoded(let bytes, let original):
            return CardDataFinding(
                .nonceSignatureTextDecoded, key: key,
                "the nonce signature was decoded as text and encoded again: it has \(bytes.counted("byte")), "
                    + DamagedBytesMessage.original(original))
        case .length(let bytes):
            return CardDataFinding(
                .nonceSignatureLength, key: key,
                "the nonce signature has \(bytes.counted("byte")), expected \(permittedLength.lowerBound) to "
                    + "\(permittedLength.upperBound)")
        }
    }
}
