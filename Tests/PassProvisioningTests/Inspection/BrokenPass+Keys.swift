import Crypto
import FoundationEssentials
import PassProvisioning

extension BrokenPass {
    static let keys: [BrokenPass] = [
        BrokenPass("SubjectPublicKeyInfo", ["subjectPublicKeyInfo"]) { $0.json(pointBytes: $0.subjectPublicKeyInfo) },
        BrokenPass("PEM", ["pem", "subjectPublicKeyInfo"]) {
            $0.json(point: $0.ephemeralKey.publicKey.pemRepresentation.replacing("\n", with: #"\n"#))
        },
        BrokenPass("Base64 of PEM", ["pem", "subjectPublicKeyInfo"]) {
            $0.json(point: base64($0.ephemeralKey.publicKey.pemRepresentation))
        },
        BrokenPass("compressed point", ["compressedPoint"]) {
            $0.json(pointBytes: Array($0.ephemeralKey.publicKey.compressedRepresentation))
        },
        BrokenPass(
            "compressed point that is not on the curve", ["compressedPoint", "pointNotOnCurve"],
            decryption: .notAttempted
        ) {
            // The X coordinate 2^256 - 1 is larger than the prime of the field.
            $0.json(pointBytes: [0x02] + [UInt8](repeating: 0xFF, count: 32))
        },
        BrokenPass("64 bytes without 04", ["missingPointPrefix"]) { $0.json(pointBytes: Array($0.point.dropFirst())) },
        BrokenPass("hybrid point", ["hybridPoint"]) {
            $0.json(pointBytes: [0x06 | ($0.point[64] & 1)] + $0.point.dropFirst())
        },
        BrokenPass("X coordinate", ["xCoordinateOnly"], decryption: .notAttempted) {
            $0.json(pointBytes: Array($0.point[1...32]))
        },
        BrokenPass("zero byte before the point", ["leadingZero"]) { $0.json(pointBytes: [0x00] + $0.point) },
        BrokenPass("OCTET STRING", ["octetString"]) { $0.json(pointBytes: [0x04, 0x41] + $0.point) },
        BrokenPass("point not on the curve", ["pointNotOnCurve"], decryption: .notAttempted) {
            $0.json(pointBytes: $0.point.dropLast() + [$0.point[64] ^ 1])
        },
        BrokenPass(
            "SubjectPublicKeyInfo not on the curve", ["subjectPublicKeyInfo", "pointNotOnCurve"],
            decryption: .notAttempted
        ) {
            $0.json(pointBytes: $0.subjectPublicKeyInfo.dropLast() + [$0.point[64] ^ 1])
        },
        BrokenPass("P-384 point", ["otherCurve"], decryption: .notAttempted) {
            $0.json(pointBytes: Array(P384.KeyAgreement.PrivateKey().publicKey.x963Representation))
        },
        BrokenPass("P-384 SubjectPublicKeyInfo", ["otherCurve"], decryption: .notAttempted) {
            $0.json(pointBytes: Array(P384.KeyAgreement.PrivateKey().publicKey.derRepresentation))
        },
        BrokenPass("P-521 point", ["otherCurve"], decryption: .notAttempted) {
            $0.json(pointBytes: Array(P521.KeyAgreement.PrivateKey().publicKey.x963Representation))
        },
        BrokenPass("private key", ["privateKey"]) {
            $0.json(pointBytes: Array($0.ephemeralKey.derRepresentation))
        },
        BrokenPass("certificate", ["certificateInsteadOfKey"], decryption: .notAttempted) {
            $0.json(pointBytes: [0x30, 0x82, 0x02, 0x00] + [UInt8](repeating: 0xFE, count: 512))
        },
        BrokenPass("wrong length", ["wrongLength"], decryption: .notAttempted) {
            $0.json(pointBytes: [UInt8](repeating: 0xFE, count: 40))
        },
        BrokenPass("truncated point", ["wrongLength"], decryption: .notAttempted) {
            $0.json(pointBytes: Array($0.point.dropLast(2)))
        },
    ]
}
