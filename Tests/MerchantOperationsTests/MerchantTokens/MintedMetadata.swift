import Crypto
import FoundationEssentials
import PaymentToken
import SandboxKit
import Testing
import Vocabulary

/// Encrypted metadata of a merchant token (EC_v1), as Apple sends it in an event.
struct MintedMetadata {
    /// Signs as Apple does.
    static let apple = Result { try SandboxAuthority(createdAt: signedAt) }
    /// The start of ``HandMovedClock``: 2026-11-21T05:00:00Z.
    static let signedAt = Timestamp(millisecondsSince1970: 1_795_237_200_000)
    /// A card number that is reserved for tests.
    static let mpan = "5204240250000002"
    static let plaintext = #"{"expirationDate":"310131","mpan":"\#(mpan)","mpanId":"mpan-2"}"#

    private let ephemeralKey: [UInt8]
    private let data: [UInt8]
    private let signature: [UInt8]
    /// The hash that the metadata names. Apple's signature does not cover it.
    var publicKeyHash: PublicKeyHash

    /// Encrypts and signs metadata.
    ///
    /// - Parameters:
    ///   - merchant: the owner of the key.
    ///   - hasValidSignature: whether the signature covers the data. If false, it covers other bytes.
    init(
        to key: P256.KeyAgreement.PublicKey, of merchant: MerchantIdentifier, signedAt: Timestamp = Self.signedAt,
        hasValidSignature: Bool = true
    ) throws {
        let ephemeral = P256.KeyAgreement.PrivateKey()
        let symmetricKey = try SymmetricKeyDerivation.symmetricKey(
            sharedSecret: ephemeral.sharedSecretFromKeyAgreement(with: key), merchantIdentifier: merchant.rawValue)
        let box = try AES.GCM.seal(
            Data(Self.plaintext.utf8), using: symmetricKey,
            nonce: AES.GCM.Nonce(data: [UInt8](repeating: 0, count: 16)))
        ephemeralKey = Array(ephemeral.publicKey.derRepresentation)
        data = Array(box.ciphertext + box.tag)
        let content = ephemeralKey + data
        signature = try Self.apple.get().signature(
            over: hasValidSignature ? content : content.reversed(), algorithm: .ecV1, signingTime: signedAt)
        publicKeyHash = PublicKeyHash(of: Array(key.derRepresentation))
    }

    var json: [UInt8] {
        func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
        return Array(
            #"{"data":"\#(base64(data))","ephemeralPublicKey":"\#(base64(ephemeralKey))","publicKeyHash":"\#(publicKeyHash.base64)","signature":"\#(base64(signature))"}"#
                .utf8)
    }
}
