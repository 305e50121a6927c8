import KeyCustody
import MerchantCore
import Synchronization
import Testing
import Vocabulary

/// A sealed key is bound to its row, so that it cannot be used in another row.
@Suite struct SealTests {
    /// Stores a sealed key in the row of a key pair.
    ///
    /// - Returns: the error of an export of this key pair; nil if the export succeeds.
    private func exportError(
        _ sealed: SealedPrivateKey, as new: NewKeyPair, of merchant: MerchantIdentifier = CustodyFixture.merchant,
        hash: PublicKeyHash? = nil, purpose: KeyPurpose? = nil, algorithm: KeyAlgorithm? = nil,
        in fixture: CustodyFixture
    ) -> MerchantError? {
        let hash = hash ?? new.publicKeyHash
        let pair = KeyPair(
            publicKeyHash: hash, merchantIdentifier: merchant, algorithm: algorithm ?? new.algorithm,
            purpose: purpose ?? new.purpose, origin: .generated, state: .current, createdAt: .now, stateSince: .now)
        fixture.store.pairs.withLock { $0[hash] = SealedKeyPair(keyPair: pair, sealedPrivateKey: sealed) }
        fixture.cache.keysChanged([hash])
        return refusal { try fixture.custody.exportPrivateKey(hash) }
    }

    @Test func `the sealed key of another row is refused, and the error names the requested publicKeyHash`() throws {
        let fixture = try CustodyFixture()
        let (mine, other) = (try fixture.generate(), try fixture.generate())
        let error = try #require(exportError(other.sealedPrivateKey, as: mine, in: fixture))
        #expect(error.code == .keyDamaged)
        #expect(error.detail.contains(mine.publicKeyHash.base64))
    }

    @Test func `a seal is valid for one merchant, hash, purpose, algorithm, data key and version only`() throws {
        let fixture = try CustodyFixture()
        let new = try fixture.generate(.rsaV1)
        let other = try fixture.generate()
        let sealed = new.sealedPrivateKey
        #expect(exportError(sealed, as: new, in: fixture) == nil)
        #expect(exportError(sealed, as: new, of: CustodyFixture.otherMerchant, in: fixture)?.code == .keyDamaged)
        #expect(exportError(sealed, as: new, hash: other.publicKeyHash, in: fixture)?.code == .keyDamaged)
        #expect(exportError(sealed, as: new, purpose: .identity, in: fixture)?.code == .keyDamaged)
        #expect(exportError(sealed, as: new, algorithm: .ecV1, in: fixture)?.code == .keyDamaged)
        let otherDataKey = SealedPrivateKey(version: 1, dataKeyIdentifier: 127, bytes: sealed.bytes)
        #expect(exportError(otherDataKey, as: new, in: fixture)?.code == .keyDamaged)
        let otherVersion = SealedPrivateKey(version: 2, dataKeyIdentifier: 128, bytes: sealed.bytes)
        #expect(exportError(otherVersion, as: new, in: fixture)?.code == .keyDamaged)
    }

    @Test func `every changed byte and every truncation of a sealed key is detected`() throws {
        let fixture = try CustodyFixture()
        let new = try fixture.generate()
        for index in new.sealedPrivateKey.bytes.indices {
            var bytes = new.sealedPrivateKey.bytes
            bytes[index] ^= 0x80
            let sealed = SealedPrivateKey(version: 1, dataKeyIdentifier: 128, bytes: bytes)
            #expect(exportError(sealed, as: new, in: fixture)?.code == .keyDamaged)
        }
        for count in [0, 12, 27, new.sealedPrivateKey.bytes.count - 1] {
            let bytes = Array(new.sealedPrivateKey.bytes.prefix(count))
            let sealed = SealedPrivateKey(version: 1, dataKeyIdentifier: 128, bytes: bytes)
            #expect(exportError(sealed, as: new, in: fixture)?.code == .keyDamaged)
        }
    }

    @Test func `each seal begins with its own nonce, and has the length of nonce, encrypted key and tag`() throws {
        let fixture = try CustodyFixture()
        let seals = try (0..<200).map { _ in try fixture.generate().sealedPrivateKey.bytes }
        #expect(Set(seals.map { Array($0.prefix(12)) }).count == seals.count)
        #expect(seals.allSatisfy { $0.count == 12 + 32 + 16 })
    }
}
