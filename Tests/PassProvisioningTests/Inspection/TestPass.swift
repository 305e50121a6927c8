import Crypto
import FoundationEssentials
import PassProvisioning

/// Encrypted card data of one attempt, made by this file's own implementation of EV_ECC_v2, which can also make
/// common mistakes.
struct TestPass: Sendable {
    /// The private key of the leaf to which passes are encrypted by default.
    static let leafKey = P256.KeyAgreement.PrivateKey()
    static let activationData = "MBPAC-1-FK-KEY01--TDEA-00112233445566778899AABBCCDDEEFF"

    /// How card data is encrypted. The defaults are EV_ECC_v2.
    struct Scheme: Sendable {
        var ivLength = 12
        var isTagFirst = false
        /// The parts of the hash input after the counter. Nil stands for the shared secret.
        var parts: @Sendable (P256.KeyAgreement.PublicKey) -> [[UInt8]?] = { key in
            Scheme.parts(partyV: Array(key.x963Representation))
        }
        /// Whether the shared secret itself is the key.
        var isSecretKey = false

        static let algorithm = Array("id-aes256-GCM".utf8)
        static let partyU = Array("Apple".utf8)

        static func parts(partyV: [UInt8]) -> [[UInt8]?] { [nil, [0x0D], algorithm, partyU, partyV] }

        /// A scheme with another PartyV.
        static func partyV(_ partyV: @escaping @Sendable (P256.KeyAgreement.PublicKey) -> [UInt8]) -> Scheme {
            Scheme(parts: { parts(partyV: partyV($0)) })
        }
    }

    let ephemeralKey: P256.KeyAgreement.PrivateKey
    /// The ciphertext followed by the tag; the tag comes first if ``Scheme/isTagFirst`` is true.
    let ciphertext: [UInt8]

    init(
        _ plaintext: [UInt8] = Array(TestCard.mastercard.plaintext.utf8), scheme: Scheme = Scheme(),
        leafKey: P256.KeyAgreement.PublicKey = TestPass.leafKey.publicKey
    ) throws {
        ephemeralKey = P256.KeyAgreement.PrivateKey()
        let secret = try ephemeralKey.sharedSecretFromKeyAgreement(with: leafKey)
        let secretBytes = secret.withUnsafeBytes { Array($0) }
        var hash = SHA256()
        hash.update(data: [0, 0, 0, 1] as [UInt8])
        for part in scheme.parts(ephemeralKey.publicKey) { hash.update(data: part ?? secretBytes) }
        let key = scheme.isSecretKey ? SymmetricKey(data: secretBytes) : SymmetricKey(data: hash.finalize())
        let iv = [UInt8](repeating: 0, count: scheme.ivLength)
        let box = try AES.GCM.seal(plaintext, using: key, nonce: AES.GCM.Nonce(data: iv))
        let (text, tag) = (Array(box.ciphertext), Array(box.tag))
        ciphertext = scheme.isTagFirst ? tag + text : text + tag
    }

    /// A pass in which every ``BrokenPass`` can make its fault: the Base64 of its ciphertext contains `+` and `/`, and
    /// the number of its `+` is not a multiple of 4. Nil if none was found.
    static let valid: TestPass? = {
        for _ in 0..<1_000 {
            guard let pass = try? TestPass() else { return nil }
            let pluses = pass.ciphertextBase64.count(where: { $0 == "+" })
            if pluses % 4 != 0 && pass.ciphertextBase64.contains("/") { return pass }
        }
        return nil
    }()

    /// The uncompressed point of the ephemeral public key.
    var point: [UInt8] { Array(ephemeralKey.publicKey.x963Representation) }
    var pointBase64: String { TestBase64.encode(point) }
    var ciphertextBase64: String { TestBase64.encode(ciphertext) }
    var subjectPublicKeyInfo: [UInt8] { Array(ephemeralKey.publicKey.derRepresentation) }

    // MARK: - JSON

    /// The JSON that the server returns to the app, with changed values.
    func json(
        point: String? = nil, ciphertext: String? = nil,
        activation: String? = TestBase64.encode(Array(activationData.utf8)), more: String = ""
    ) -> String {
        var members = [
            "\"ephemeralPublicKey\":\"\(point ?? pointBase64)\"",
            "\"encryptedPassData\":\"\(ciphertext ?? ciphertextBase64)\"",
        ]
        if let activation { members.append("\"activationData\":\"\(activation)\"") }
        return "{\(members.joined(separator: ","))\(more)}"
    }

    func json(pointBytes: [UInt8]) -> String { json(point: TestBase64.encode(pointBytes)) }

    func json(ciphertextBytes: [UInt8]) -> String { json(ciphertext: TestBase64.encode(ciphertextBytes)) }
}
