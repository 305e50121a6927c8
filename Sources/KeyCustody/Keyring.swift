import Crypto
import FoundationEssentials
package import MerchantCore
import Secrets
package import Vocabulary

/// The opened data keys, under which private keys are sealed (AES-256-GCM, a random nonce each).
///
/// The newest data key seals; each opens what it sealed. A data key seals at most a few million private keys, far below the
/// 2^32 that NIST SP 800-38D section 8.3 allows for random nonces.
package struct Keyring: Sendable {
    /// The layout of a sealed private key: nonce, ciphertext and tag; the plaintext as in ``PrivateKeyBytes``.
    static let sealVersion = 1

    private let dataKeys: [Int: SymmetricKey]
    private let newest: (identifier: Int, key: SymmetricKey)
    /// Whether the master key and the data keys were kept out of swap; false where the limit on locked memory is too low.
    package let isLocked: Bool

    /// Opens every data key; makes the first where there is none, durable before it is used.
    ///
    /// - Throws: `storeUnavailable` where the master key is not the one that sealed them, `keyDamaged` where it is but a row
    ///   does not open, and whatever the repository throws.
    package init(
        opening repository: some DataKeyRepository, with masterKey: borrowing MasterKey, at now: Timestamp
    ) throws {
        var rows = try repository.dataKeys()
        if rows.isEmpty {
            let first = try DataKeySeal.make(identifier: 1, under: masterKey, at: now)
            try repository.insert(first)
            // Read back: what is used from here on is what a restart will find.
            rows = try repository.dataKeys()
        }
        let opened = try DataKeySeal.open(rows, with: masterKey)
        guard let last = opened.max(by: { $0.key < $1.key }) else {
            throw MerchantError(.storeUnavailable, "the first data key was stored but cannot be read back")
        }
        // One step after the other: none is left out because another failed.
        let locks =
            [masterKey.withUnsafeBytes(MemoryLock.lock)] + opened.values.map { $0.withUnsafeBytes(MemoryLock.lock) }
        isLocked = locks.allSatisfy(\.self)
        dataKeys = opened
        newest = (last.key, last.value)
    }

    func seal(_ key: borrowing PrivateKeyBytes, to binding: KeyBinding) throws -> SealedPrivateKey {
        let associated = binding.associatedData(version: Self.sealVersion, dataKeyIdentifier: newest.identifier)
        let box = try key.bytes.withUnsafeBytes { plaintext in
            try AES.GCM.seal(plaintext, using: newest.key, authenticating: associated)
        }
        guard let combined = box.combined else {
            preconditionFailure("a nonce of 12 bytes, the default, always has a combined form")
        }
        return SealedPrivateKey(
            version: Self.sealVersion, dataKeyIdentifier: newest.identifier, bytes: Array(combined))
    }

    /// - Throws: `keyDamaged`, naming the publicKeyHash, where the seal does not open for exactly this key pair.
    func open(_ sealed: SealedPrivateKey, of binding: KeyBinding) throws(MerchantError) -> PrivateKeyBytes {
        guard sealed.version == Self.sealVersion else {
            throw Self.damaged(binding, "is sealed in version \(sealed.version), expected \(Self.sealVersion)")
        }
        guard let dataKey = dataKeys[sealed.dataKeyIdentifier] else {
            throw Self.damaged(binding, "is sealed under data key \(sealed.dataKeyIdentifier), which is not there")
        }
        let associated = binding.associatedData(version: sealed.version, dataKeyIdentifier: sealed.dataKeyIdentifier)
        guard let box = try? AES.GCM.SealedBox(combined: sealed.bytes),
            var plaintext = try? AES.GCM.open(box, using: dataKey, authenticating: associated)
        else { throw Self.damaged(binding, "is damaged or another key's: its seal does not open") }
        defer { Wipe.bytes(&plaintext) }
        return PrivateKeyBytes(algorithm: binding.algorithm, bytes: SecretBytes(copying: plaintext))
    }

    static func damaged(_ binding: KeyBinding, _ why: String) -> MerchantError {
        MerchantError(.keyDamaged, "the stored private key of \(binding.publicKeyHash) \(why)")
    }
}
