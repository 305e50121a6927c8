import KeyCustody
import MerchantCore
import Synchronization
import Testing
import Vocabulary

/// Design rule 2: no row can stand in for another.
@Suite struct SealTests {
    private func put(
        _ sealed: SealedPrivateKey, as new: NewKeyPair, of merchant: MerchantIdentifier = Bench.merchant,
        hash: PublicKeyHash? = nil, purpose: KeyPurpose? = nil, algorithm: KeyAlgorithm? = nil, in bench: Bench
    ) -> MerchantError? {
        let hash = hash ?? new.publicKeyHash
        let pair = KeyPair(
            publicKeyHash: hash, merchantIdentifier: merchant, algorithm: algorithm ?? new.algorithm,
            purpose: purpose ?? new.purpose, origin: .generated, state: .current, createdAt: .now, stateSince: .now)
        bench.store.pairs.withLock { $0[hash] = SealedKeyPair(keyPair: pair, sealedPrivateKey: sealed) }
        bench.custody.keysChanged([hash])
        return refusal { try bench.custody.exportPrivateKey(hash) }
    }

    @Test func `the sealed key of another row is refused, naming the publicKeyHash asked for`() throws {
        let bench = try Bench()
        let (mine, other) = (try bench.generate(), try bench.generate())
        let error = try #require(put(other.sealedPrivateKey, as: mine, in: bench))
        #expect(error.code == .keyDamaged)
        #expect(error.detail.contains(mine.publicKeyHash.base64))
    }

    @Test func `the seal holds for one merchant, hash, purpose, algorithm, data key and version only`() throws {
        let bench = try Bench()
        let new = try bench.generate(.rsaV1)
        let other = try bench.generate()
        let sealed = new.sealedPrivateKey
        #expect(put(sealed, as: new, in: bench) == nil)
        #expect(put(sealed, as: new, of: Bench.otherMerchant, in: bench)?.code == .keyDamaged)
        #expect(put(sealed, as: new, hash: other.publicKeyHash, in: bench)?.code == .keyDamaged)
        #expect(put(sealed, as: new, purpose: .identity, in: bench)?.code == .keyDamaged)
        #expect(put(sealed, as: new, algorithm: .ecV1, in: bench)?.code == .keyDamaged)
        let otherDataKey = SealedPrivateKey(version: 1, dataKeyIdentifier: 129, bytes: sealed.bytes)
        #expect(put(otherDataKey, as: new, in: bench)?.code == .keyDamaged)
        let otherVersion = SealedPrivateKey(version: 2, dataKeyIdentifier: 128, bytes: sealed.bytes)
        #expect(put(otherVersion, as: new, in: bench)?.code == .keyDamaged)
    }

    @Test func `every changed byte of a sealed key is noticed, and a cut one too`() throws {
        let bench = try Bench()
        let new = try bench.generate()
        for index in new.sealedPrivateKey.bytes.indices {
            var bytes = new.sealedPrivateKey.bytes
            bytes[index] ^= 0x80
            let sealed = SealedPrivateKey(version: 1, dataKeyIdentifier: 128, bytes: bytes)
            #expect(put(sealed, as: new, in: bench)?.code == .keyDamaged)
        }
        for count in [0, 12, 27, new.sealedPrivateKey.bytes.count - 1] {
            let bytes = Array(new.sealedPrivateKey.bytes.prefix(count))
            let sealed = SealedPrivateKey(version: 1, dataKeyIdentifier: 128, bytes: bytes)
            #expect(put(sealed, as: new, in: bench)?.code == .keyDamaged)
        }
    }

    @Test func `no two seals share a nonce, and the sealed bytes hold no part of the key`() throws {
        let bench = try Bench()
        let seals = try (0..<200).map { _ in try bench.generate().sealedPrivateKey.bytes }
        #expect(Set(seals.map { Array($0.prefix(12)) }).count == seals.count)
        #expect(seals.allSatisfy { $0.count == 12 + 32 + 16 })
    }
}
