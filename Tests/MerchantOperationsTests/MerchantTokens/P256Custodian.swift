import Crypto
import FoundationEssentials
import MerchantCore
import PaymentToken
import Secrets
import Synchronization
import Vocabulary

/// A custodian that keeps P-256 keys in memory, and derives the symmetric keys of messages that are encrypted to them.
final class P256Custodian: KeyCustodian {
    struct NotNeeded: Error {}

    private struct State {
        var keys: [PublicKeyHash: (key: P256.KeyAgreement.PrivateKey, merchant: MerchantIdentifier)] = [:]
        var usedKeys: [PublicKeyHash] = []
    }

    private let state = Mutex(State())

    /// The keys for which a symmetric key was requested, in the order of the calls, including refused calls.
    var usedKeys: [PublicKeyHash] { state.withLock { $0.usedKeys } }

    func publicKey(_ hash: PublicKeyHash) -> P256.KeyAgreement.PublicKey? {
        state.withLock { $0.keys[hash]?.key.publicKey }
    }

    func generateKeyPair(
        algorithm: KeyAlgorithm, purpose: KeyPurpose, for merchant: MerchantIdentifier
    ) throws -> NewKeyPair {
        let key = P256.KeyAgreement.PrivateKey()
        let subjectPublicKeyInfo = Array(key.publicKey.derRepresentation)
        let hash = PublicKeyHash(of: subjectPublicKeyInfo)
        state.withLock { $0.keys[hash] = (key, merchant) }
        return NewKeyPair(
            publicKeyHash: hash, algorithm: algorithm, purpose: purpose, subjectPublicKeyInfo: subjectPublicKeyInfo,
            certificateSigningRequest: Array("CSR of \(hash.hex)".utf8),
            sealedPrivateKey: SealedPrivateKey(version: 1, dataKeyIdentifier: 1, bytes: hash.bytes))
    }

    func symmetricKey(_ hash: PublicKeyHash, from material: SymmetricKeyMaterial) throws -> SecretBytes {
        let found = state.withLock { state in
            state.usedKeys.append(hash)
            return state.keys[hash]
        }
        guard let found else { throw MerchantError(.keyNotFound, "there is no such key") }
        guard case .ephemeralPublicKey(let der) = material else { throw NotNeeded() }
        let derived = try SymmetricKeyDerivation.symmetricKey(
            sharedSecret: found.key.sharedSecretFromKeyAgreement(
                with: P256.KeyAgreement.PublicKey(derRepresentation: der)),
            merchantIdentifier: found.merchant.rawValue)
        return SecretBytes(copying: derived.withUnsafeBytes { Array($0) })
    }

    func exportPrivateKey(_ hash: PublicKeyHash) throws -> SecretBytes { throw NotNeeded() }

    func importKeyPair(
        privateKey: borrowing SecretBytes, number: Int?, passphrase: borrowing SecretBytes, purpose: KeyPurpose,
        for merchant: MerchantIdentifier
    ) throws -> ImportedKeyPair { throw NotNeeded() }

    func readCertificate(_ upload: [UInt8]) throws -> CertificateFacts { throw NotNeeded() }

    func fingerprint(ofClientCertificate upload: [UInt8]) throws -> Bits256 { throw NotNeeded() }

    func issuerFinding(for certificate: CertificateFacts, at time: Timestamp) -> IssuerFinding { .notConfigured }
}
