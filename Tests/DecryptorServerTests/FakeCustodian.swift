import Crypto
import Dispatch
import Glibc
import MerchantCore
import NIOPosix
import PaymentToken
import Secrets
import Synchronization
import Vocabulary

/// Blocks every caller until it is opened.
final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private let arrivals = Atomic<Int>(0)

    func pass() {
        arrivals.add(1, ordering: .relaxed)
        semaphore.wait()
        semaphore.signal()
    }

    /// Returns once the given number of callers have arrived.
    func awaitArrivals(_ count: Int) { while arrivals.load(ordering: .relaxed) < count { usleep(500) } }

    func open() { semaphore.signal() }
}

/// A custodian with P-256 keys. Like the real custodian, it has a cache of the keys that were used. For a wrapped key,
/// it returns the first 16 bytes as the symmetric key, and waits first if ``rsaGate`` is closed.
final class FakeCustodian: KeyCustodian {
    struct NotNeeded: Error {}

    private let keys = Mutex<[PublicKeyHash: (P256.KeyAgreement.PrivateKey, MerchantIdentifier)]>([:])
    private let cachedKeys = Mutex<Set<PublicKeyHash>>([])
    /// For each use of a key that was not in the cache: whether it ran on a thread that may block.
    let reads = Mutex<[Bool]>([])
    let rsaGate = Mutex<Gate?>(nil)

    func add(_ key: P256.KeyAgreement.PrivateKey, of merchant: MerchantIdentifier) -> PublicKeyHash {
        let hash = PublicKeyHash(of: key.publicKey.derRepresentation)
        keys.withLock { $0[hash] = (key, merchant) }
        return hash
    }

    func emptyCache() { cachedKeys.withLock { $0 = [] } }

    func cachedSymmetricKey(_ hash: PublicKeyHash, from material: SymmetricKeyMaterial) throws -> SecretBytes? {
        guard cachedKeys.withLock({ $0.contains(hash) }) else { return nil }
        return try restore(hash, from: material)
    }

    func symmetricKey(_ hash: PublicKeyHash, from material: SymmetricKeyMaterial) throws -> SecretBytes {
        if cachedKeys.withLock({ $0.insert(hash).inserted }) {
            reads.withLock { $0.append(Self.isOnThreadThatMayBlock) }
        }
        return try restore(hash, from: material)
    }

    /// False on an event loop and in a task, because tasks run on the threads of Swift's pool.
    private static var isOnThreadThatMayBlock: Bool {
        MultiThreadedEventLoopGroup.currentEventLoop == nil && withUnsafeCurrentTask { $0 == nil }
    }

    private func restore(_ hash: PublicKeyHash, from material: SymmetricKeyMaterial) throws -> SecretBytes {
        switch material {
        case .wrappedKey(let bytes):
            rsaGate.withLock { $0 }?.pass()
            return SecretBytes(copying: bytes.prefix(16))
        case .ephemeralPublicKey(let der):
            guard let (key, merchant) = keys.withLock({ $0[hash] }) else {
                throw MerchantError(.keyNotFound, "there is no such key")
            }
            guard let other = try? P256.KeyAgreement.PublicKey(derRepresentation: der) else {
                throw MerchantError(.malformed, "the ephemeralPublicKey is not on the curve")
            }
            let derived = try SymmetricKeyDerivation.symmetricKey(
                sharedSecret: key.sharedSecretFromKeyAgreement(with: other), merchantIdentifier: merchant.rawValue)
            return SecretBytes(copying: derived.withUnsafeBytes { Array($0) })
        }
    }

    func exportPrivateKey(_ hash: PublicKeyHash) throws -> SecretBytes {
        guard let (key, _) = keys.withLock({ $0[hash] }) else { throw NotNeeded() }
        return SecretBytes(copying: Array((key.pemRepresentation + "\n").utf8))
    }

    func generateKeyPair(
        algorithm: KeyAlgorithm, purpose: KeyPurpose, for merchant: MerchantIdentifier
    ) throws -> NewKeyPair { throw NotNeeded() }
    func importKeyPair(
        privateKey: borrowing SecretBytes, number: Int?, passphrase: borrowing SecretBytes, purpose: KeyPurpose,
        for merchant: MerchantIdentifier
    ) throws -> ImportedKeyPair { throw NotNeeded() }
    func readCertificate(_ upload: [UInt8]) throws -> CertificateFacts { throw NotNeeded() }
    func fingerprint(ofClientCertificate upload: [UInt8]) throws -> Bits256 { throw NotNeeded() }
    func issuerFinding(for certificate: CertificateFacts, at time: Timestamp) -> IssuerFinding { .notConfigured }
}
