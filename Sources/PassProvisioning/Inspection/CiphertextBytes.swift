import Vocabulary

/// Finds the ciphertext and its tag in bytes that should consist of these two parts, and reports what else the bytes
/// contain.
struct CiphertextBytes {
    static let tagLength = 16
    /// A lower bound of the length in bytes: card data in a published form is always longer. The nonce signature alone
    /// has at least 128 characters.
    static let shortestCardData = 200
    /// This limit is far above the length of real card data, which has about 400 bytes.
    static let longest = 16_384

    /// The ciphertext followed by the tag; nil if the bytes do not contain both.
    private(set) var bytes: [UInt8]?
    /// Whether the bytes are card data that was not encrypted.
    private(set) var isPlaintext = false
    /// The ephemeral public key that stands before the ciphertext; nil if there is none.
    private(set) var prependedPoint: [UInt8]?
    private(set) var findings: [PassDataFinding] = []

    init(_ decoded: [UInt8]) {
        guard decoded.first(where: { $0 != 0x20 && $0 != 0x0A }) != UInt8(ascii: "{") || !Self.isText(decoded) else {
            isPlaintext = true
            add(.notEncrypted, "'encryptedPassData' contains JSON that is not encrypted")
            return
        }
        var value = decoded
        let start = Array(value.prefix(EphemeralKeyBytes.pointLength))
        // The chance that other bytes are a point on the curve is below 2^-250.
        if value.count > EphemeralKeyBytes.pointLength, EphemeralKeyBytes.isOnCurve(start) {
            add(.ephemeralKeyPrepended, "'encryptedPassData' begins with a public key")
            prependedPoint = start
            value.removeFirst(EphemeralKeyBytes.pointLength)
        }
        let zeros = value.prefix { $0 == 0 }.count
        if zeros >= 12 {
            let length = zeros >= 16 ? 16 : 12
            add(.ivPrepended, "'encryptedPassData' begins with an initialization vector of \(length) zero bytes")
            value.removeFirst(length)
        }
        checkLength(value.count)
        if value.count > Self.tagLength { bytes = value }
    }

    private mutating func checkLength(_ count: Int) {
        switch count {
        case ..<Self.tagLength:
            add(
                .shorterThanTag,
                "'encryptedPassData' has \(count.counted("byte")), fewer than the tag of \(Self.tagLength) bytes")
        case Self.tagLength: add(.onlyTag, "'encryptedPassData' has \(count) bytes, which are the tag alone")
        case ..<(Self.shortestCardData + Self.tagLength):
            add(
                .tooShortForCardData,
                "'encryptedPassData' has \(count) bytes, but encrypted card data has more than "
                    + "\(Self.shortestCardData + Self.tagLength)")
        case (Self.longest + 1)...:
            add(.wrongLength, "'encryptedPassData' has \(count) bytes, expected at most \(Self.longest)")
        default: break
        }
    }

    private static func isText(_ bytes: [UInt8]) -> Bool { String(validating: bytes, as: UTF8.self) != nil }

    private mutating func add(_ kind: PassDataFinding.Kind, _ message: String) {
        findings.append(PassDataFinding(kind, value: .encryptedPassData, message))
    }
}
