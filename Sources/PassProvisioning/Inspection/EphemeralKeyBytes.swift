import Crypto
import FoundationEssentials
import Vocabulary

/// Finds the uncompressed point in the bytes of `ephemeralPublicKey`. If the key was written in another form, reports
/// the form.
struct EphemeralKeyBytes {
    static let pointLength = 65

    /// The uncompressed point, 65 bytes, which is on the curve P-256; nil if the bytes do not contain one.
    private(set) var point: [UInt8]?
    private(set) var findings: [PassDataFinding] = []

    init(_ bytes: [UInt8]) {
        if Self.isSequence(bytes) {
            readDER(bytes)
            return
        }
        switch (bytes.count, bytes.first ?? 0) {
        case (65, 0x04): readPoint(bytes)
        case (65, 0x06), (65, 0x07):
            add(.hybridPoint, "'ephemeralPublicKey' is a point in hybrid form")
            readPoint([0x04] + bytes.dropFirst())
        case (33, 0x02), (33, 0x03):
            add(.compressedPoint, "'ephemeralPublicKey' is a compressed point (33 bytes)")
            guard let key = try? P256.KeyAgreement.PublicKey(compressedRepresentation: bytes) else {
                add(.pointNotOnCurve, "'ephemeralPublicKey' is not a point on the curve P-256")
                return
            }
            point = [UInt8](key.x963Representation)
        case (64, _) where Self.isOnCurve([0x04] + bytes):
            add(.missingPointPrefix, "'ephemeralPublicKey' has 64 bytes: the byte 04 before X and Y is missing")
            point = [0x04] + bytes
        case (66, 0x00) where bytes[1] == 0x04:
            add(.leadingZero, "'ephemeralPublicKey' has a zero byte before the point")
            readPoint(Array(bytes.dropFirst()))
        case (67, 0x04) where bytes[1] == 0x41 && bytes[2] == 0x04:
            add(.octetString, "'ephemeralPublicKey' is a point in a DER OCTET STRING")
            readPoint(Array(bytes.dropFirst(2)))
        case (97, 0x04), (133, 0x04), (49, 0x02), (49, 0x03), (67, 0x02), (67, 0x03):
            add(.otherCurve, "'ephemeralPublicKey' (\(bytes.count) bytes) is a point on another curve than P-256")
        case (32, _):
            add(.xCoordinateOnly, "'ephemeralPublicKey' has 32 bytes: it is an X coordinate or a private key")
        default: addWrongLength(bytes.count)
        }
    }

    /// Whether the bytes look like a SEQUENCE in DER. The coordinates of a point can begin with the same byte as the
    /// tag, so the length byte is checked too.
    private static func isSequence(_ bytes: [UInt8]) -> Bool {
        guard bytes.count > 2, bytes[0] == 0x30 else { return false }
        return Int(bytes[1]) == bytes.count - 2 || bytes.count > 127 && (0x81...0x83).contains(bytes[1])
    }

    static func isOnCurve(_ point: [UInt8]) -> Bool {
        (try? P256.KeyAgreement.PublicKey(x963Representation: point)) != nil
    }

    private mutating func readPoint(_ bytes: [UInt8]) {
        guard Self.isOnCurve(bytes) else {
            add(.pointNotOnCurve, "'ephemeralPublicKey' is not a point on the curve P-256")
            return
        }
        point = bytes
    }

    /// Reads bytes that begin with the tag of a SEQUENCE.
    private mutating func readDER(_ bytes: [UInt8]) {
        if let key = try? P256.KeyAgreement.PublicKey(derRepresentation: bytes) {
            addSubjectPublicKeyInfo(bytes.count)
            point = [UInt8](key.x963Representation)
        } else if P256SubjectPublicKeyInfo.point(in: bytes) != nil {
            addSubjectPublicKeyInfo(bytes.count)
            add(.pointNotOnCurve, "'ephemeralPublicKey' is not a point on the curve P-256")
        } else if let key = try? P256.KeyAgreement.PrivateKey(derRepresentation: bytes) {
            add(.privateKey, "'ephemeralPublicKey' (\(bytes.count) bytes) is a private key")
            point = [UInt8](key.publicKey.x963Representation)
        } else if Self.isKeyOnOtherCurve(bytes) {
            add(.otherCurve, "'ephemeralPublicKey' (\(bytes.count) bytes) is a key on another curve than P-256")
        } else if bytes.count > 256, bytes.starts(with: [0x30, 0x82]) {
            add(
                .certificateInsteadOfKey,
                "'ephemeralPublicKey' (\(bytes.count) bytes) is a certificate, or another large structure in DER")
        } else {
            addWrongLength(bytes.count)
        }
    }

    private static func isKeyOnOtherCurve(_ bytes: [UInt8]) -> Bool {
        (try? P384.KeyAgreement.PublicKey(derRepresentation: bytes)) != nil
            || (try? P521.KeyAgreement.PublicKey(derRepresentation: bytes)) != nil
    }

    private mutating func addSubjectPublicKeyInfo(_ count: Int) {
        add(
            .subjectPublicKeyInfo,
            "'ephemeralPublicKey' is a SubjectPublicKeyInfo (\(count) bytes), expected the point of 65 bytes")
    }

    private mutating func addWrongLength(_ count: Int) {
        add(
            .wrongLength,
            "'ephemeralPublicKey' has \(count.counted("byte")), expected an uncompressed point of \(Self.pointLength)")
    }

    private mutating func add(_ kind: PassDataFinding.Kind, _ message: String) {
        findings.append(PassDataFinding(kind, value: .ephemeralPublicKey, message))
    }
}
