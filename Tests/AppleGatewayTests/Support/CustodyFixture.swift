import KeyCustody
import MerchantCore
import SandboxKit
import Synchronization
import Testing
import Vocabulary

/// Identity keys in custody, with a store in memory.
final class CustodyFixture: DataKeyRepository, Sendable {
    private struct State: Sendable {
        var dataKeys: [SealedDataKey] = []
        var pairs: [PublicKeyHash: (sealed: SealedKeyPair, certificates: [StoredCertificate])] = [:]
    }

    private let state = Mutex(State())
    private let created = Mutex<KeyCustody?>(nil)
    private let cache = IdentityCache()

    init(_ fixture: GatewayFixture) throws {
        let keyring = try Keyring(opening: self, with: MasterKey.random(), at: .now)
        let custody = KeyCustody(keyring: keyring, cache: UnsealedKeyCache()) { [weak self] hash in
            self?.state.withLock { $0.pairs[hash]?.sealed }
        }
        created.withLock { $0 = custody }
    }

    var custody: KeyCustody {
        guard let custody = created.withLock({ $0 }) else { preconditionFailure("set by the initializer") }
        return custody
    }

    var identities: CustodyIdentities {
        CustodyIdentities(custody: custody, cache: cache) { [weak self] owner, time in
            guard let self else { return [] }
            let keys = state.withLock { state in
                state.pairs.values.flatMap { pair in
                    pair.certificates.map { IdentityKey(keyPair: pair.sealed.keyPair, certificate: $0) }
                }
            }
            let merchant = if case .merchant(let merchant) = owner { merchant } else { GatewayFixture.merchant }
            return keys.filter { $0.keyPair.merchantIdentifier == merchant }
                .sorted { $0.certificate.notBefore > $1.certificate.notBefore }
        }
    }

    func dataKeys() throws -> [SealedDataKey] { state.withLock { $0.dataKeys } }
    func insert(_ dataKey: SealedDataKey) throws { state.withLock { $0.dataKeys.append(dataKey) } }

    /// Adds a standby identity key whose certificate is valid on these days, counted from now.
    @discardableResult
    func add(
        _ name: String, issuedBy authority: SandboxAuthority, days: ClosedRange<Int>,
        of merchant: MerchantIdentifier = GatewayFixture.merchant
    ) throws -> PublicKeyHash {
        let new = try custody.generateKeyPair(algorithm: .rsaV1, purpose: .identity, for: merchant)
        let der = try authority.issue(
            csr: new.certificateSigningRequest, merchant: merchant, purpose: .identity,
            notBefore: GatewayFixture.day(days.lowerBound), notAfter: GatewayFixture.day(days.upperBound))
        let certificate = StoredCertificate(
            try custody.readCertificate(der), issuerVerified: false, storedAt: .now)
        put(new, state: .standby, certificates: [certificate], of: merchant)
        return new.publicKeyHash
    }

    func put(
        _ new: NewKeyPair, state keyState: KeyState, certificates: [StoredCertificate] = [],
        of merchant: MerchantIdentifier = GatewayFixture.merchant
    ) {
        let pair = KeyPair(
            publicKeyHash: new.publicKeyHash, merchantIdentifier: merchant, algorithm: new.algorithm,
            purpose: new.purpose, origin: .generated, state: keyState, createdAt: .now, stateSince: .now)
        let sealed = SealedKeyPair(keyPair: pair, sealedPrivateKey: new.sealedPrivateKey)
        state.withLock { $0.pairs[new.publicKeyHash] = (sealed, certificates) }
        cache.keysChanged([new.publicKeyHash])
    }

    func revoke(_ hash: PublicKeyHash) { setState(.revoked, of: hash) }

    func setState(_ keyState: KeyState, of hash: PublicKeyHash) {
        state.withLock { state in
            guard let found = state.pairs[hash] else { return }
            var pair = found.sealed.keyPair
            pair.state = keyState
            let sealed = SealedKeyPair(keyPair: pair, sealedPrivateKey: found.sealed.sealedPrivateKey)
            state.pairs[hash] = (sealed, found.certificates)
        }
        cache.keysChanged([hash])
    }
}
