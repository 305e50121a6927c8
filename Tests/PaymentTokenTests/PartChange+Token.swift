import Crypto
import FoundationEssentials
import PaymentToken
import Testing

/// Changes of every field of a token, and of its signature as a whole.
extension PartChange {
    static let ofToken: [PartChange] = [
        PartChange("version: one that is unknown", .parsing(.unsupportedVersion), mentions: "EC_v9") {
            $0.version = "EC_v9"
        },
        PartChange("version: in another case", .parsing(.unsupportedVersion), mentions: "ec_v1") {
            $0.keyName = $0.keyName
            $0.version = "ec_v1"
        },
        PartChange("version: the other one", .parsing(.malformed), mentions: "'header.", rsa: "'header.") {
            $0.keyName = $0.keyName
            $0.version = $0.version == "EC_v1" ? "RSA_v1" : "EC_v1"
        },
        PartChange("key material: under the other name", .parsing(.malformed), mentions: "'header.") {
            $0.keyName = $0.version == "EC_v1" ? "wrappedKey" : "ephemeralPublicKey"
        },
        PartChange("key material: another sender's", .checks([.messageDigest]), reason: .digestMismatch) {
            $0.keyMaterial =
                $0.version == "EC_v1"
                ? Array(P256.KeyAgreement.PrivateKey().publicKey.derRepresentation) : $0.keyMaterial.reversed()
        },
        PartChange("key material: one byte more", .parsing(.malformed), mentions: "P-256", rsa: "256") {
            $0.keyMaterial.append(0)
        },
        PartChange("key material: empty", .parsing(.malformed), mentions: "1 to 512") {
            $0.keyMaterial = []
        },
        PartChange("publicKeyHash: one bit", .keyNotFound) { $0.publicKeyHash[31] ^= 1 },
        PartChange("publicKeyHash: short", .parsing(.malformed), mentions: "'header.publicKeyHash'") {
            $0.publicKeyHash.removeLast()
        },
        PartChange("transactionId: one bit", .checks([.messageDigest])) { $0.transactionId[0] ^= 0x80 },
        PartChange("transactionId: short", .parsing(.malformed), mentions: "'header.transactionId'") {
            $0.transactionId.removeLast()
        },
        PartChange("applicationData: added, or another", .checks([.messageDigest])) {
            $0.applicationDataHash = Array(SHA256.hash(data: Array("another order".utf8)))
        },
        PartChange("applicationData: short", .parsing(.malformed), mentions: "'header.applicationData'") {
            $0.applicationDataHash = [1]
        },
        PartChange("applicationData: removed, or a zero hash added", .checks([.messageDigest])) {
            $0.applicationDataHash = $0.applicationDataHash == nil ? [UInt8](repeating: 0, count: 32) : nil
        },
        PartChange("data: first bit", .checks([.messageDigest])) { $0.data[0] ^= 0x80 },
        PartChange("data: last bit of the tag", .checks([.messageDigest])) { $0.data[$0.data.count - 1] ^= 1 },
        PartChange("data: one byte more", .checks([.messageDigest])) { $0.data.append(0) },
        PartChange("data: one byte less", .checks([.messageDigest])) { $0.data.removeLast() },
        PartChange("data: in another order", .checks([.messageDigest])) { $0.data.reverse() },
        PartChange("data: no more than a tag", .parsing(.malformed), mentions: "'data'") { $0.data = [1] },
        PartChange("a byte moved from data to transactionId", .checks([.messageDigest])) {
            $0.transactionId = [$0.data.removeLast()] + $0.transactionId.dropLast()
        },
        PartChange("signature: empty", .checks([.structure]), reason: .notCMS) { $0.signature = [] },
        PartChange("signature: cut short", .checks([.structure]), reason: .notCMS) {
            $0.signature.removeLast()
        },
        PartChange("signature: bytes after it", .checks([.structure]), reason: .trailingBytes) {
            $0.signature.append(0)
        },
        PartChange("signature: twice", .checks([.structure]), reason: .trailingBytes) { $0.signature += $0.signature },
    ]
}
