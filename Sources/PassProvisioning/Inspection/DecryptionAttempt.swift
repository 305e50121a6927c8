import Crypto
import FoundationEssentials
import Secrets

/// Decrypts card data with the sandbox's key. If EV_ECC_v2 fails, it tries the schemes that result from common faults.
struct DecryptionAttempt {
    private static let counter: [UInt8] = [0, 0, 0, 1]
    private static let algorithm = Array("id-aes256-GCM".utf8)
    private static let partyU = Array("Apple".utf8)

    /// The ciphertext followed by the tag, more than 16 bytes.
    let ciphertext: [UInt8]
    /// The ephemeral public key, 65 bytes, on the curve.
    let point: [UInt8]
    let privateKey: P256.KeyAgreement.PrivateKey

    /// Calls a closure with the plaintext and the faults of the sender. There are no faults if EV_ECC_v2 decrypts the
    /// card data.
    ///
    /// - Returns: false if no scheme decrypts the card data. Then the closure is not called.
    func decrypt(_ body: (UnsafeRawBufferPointer, [PassDataFinding]) -> Void) -> Bool {
        let pass = EncryptedPass(encryptedPassData: Data(ciphertext), ephemeralPublicKey: Data(point))
        do {
            let plaintext = try PassDecryption.decrypt(pass, with: privateKey)
            plaintext.withUnsafeBytes { body($0, []) }
            return true
        } catch {
            return decryptFaulty(body)
        }
    }

    private func decryptFaulty(_ body: (UnsafeRawBufferPointer, [PassDataFinding]) -> Void) -> Bool {
        guard let ephemeral = try? P256.KeyAgreement.PublicKey(x963Representation: point),
            let secret = try? privateKey.sharedSecretFromKeyAgreement(with: ephemeral)
        else { return false }
        for scheme in KeyScheme.faulty {
            guard var plaintext = open(scheme, secret) else { continue }
            defer { Wipe.bytes(&plaintext) }
            plaintext.withUnsafeBytes { body($0, scheme.findings) }
            return true
        }
        return false
    }

    private func open(_ scheme: KeyScheme, _ secret: SharedSecret) -> Data? {
        let tag = scheme.isTagFirst ? ciphertext.prefix(16) : ciphertext.suffix(16)
        let withoutTag = scheme.isTagFirst ? ciphertext.dropFirst(16) : ciphertext.dropLast(16)
        let iv = [UInt8](repeating: 0, count: scheme.ivLength)
        guard let nonce = try? AES.GCM.Nonce(data: iv),
            let box = try? AES.GCM.SealedBox(nonce: nonce, ciphertext: withoutTag, tag: tag)
        else { return nil }
        return try? AES.GCM.open(box, using: key(scheme, secret))
    }

    private func key(_ scheme: KeyScheme, _ secret: SharedSecret) -> SymmetricKey {
        let partyV = scheme.partyV.bytes(
            point: point, recipient: Array(privateKey.publicKey.x963Representation))
        let length = [UInt8(Self.algorithm.count)]
        switch scheme.derivation {
        case .standard: return derived(secret, before: [], after: [length, Self.algorithm, Self.partyU, partyV])
        case .algorithmWithoutLength: return derived(secret, before: [], after: [Self.algorithm, Self.partyU, partyV])
        case .algorithmBeforeSecret:
            return derived(secret, before: [length, Self.algorithm], after: [Self.partyU, partyV])
        case .secretAsKey: return secret.withUnsafeBytes { SymmetricKey(data: $0) }
        case .hashOfSecret:
            var hash = SHA256()
            secret.withUnsafeBytes { hash.update(bufferPointer: $0) }
            return SymmetricKey(data: hash.finalize())
        }
    }

    /// One round of the one-step key derivation, with parts before and after the shared secret.
    private func derived(_ secret: SharedSecret, before: [[UInt8]], after: [[UInt8]]) -> SymmetricKey {
        var hash = SHA256()
        hash.update(data: Self.counter)
        for part in before { hash.update(data: part) }
        secret.withUnsafeBytes { hash.update(bufferPointer: $0) }
        for part in after { hash.update(data: part) }
        return SymmetricKey(data: hash.finalize())
    }
}
