import KeyCustody
import MerchantCore
import Secrets
import Synchronization
import Testing
import Vocabulary

@Suite struct KeyringTests {
    @Test func `the first data key is generated if there is none, and only then`() throws {
        let store = MemoryStore()
        let masterKey = MasterKey.random()
        _ = try Keyring(opening: store, with: masterKey, at: .now)
        #expect(try store.dataKeys().map(\.identifier) == [128])
        _ = try Keyring(opening: store, with: masterKey, at: .now)
        #expect(try store.dataKeys().count == 1)
    }

    @Test func `a wrong master key is reported as such, not as damage`() throws {
        let store = MemoryStore()
        _ = try Keyring(opening: store, with: MasterKey.random(), at: .now)
        let error = try #require(refusal { _ = try Keyring(opening: store, with: MasterKey.random(), at: .now) })
        #expect(error.code == .masterKeyConflict)
        #expect(error.detail.contains("not the one of this database"))
    }

    @Test(arguments: [0, 12, 30, 59])
    func `a damaged row under the right master key is reported as damage`(position: Int) throws {
        let store = MemoryStore()
        let masterKey = MasterKey.random()
        _ = try Keyring(opening: store, with: masterKey, at: .now)
        change(store) { $0[position] ^= 1 }
        let error = try #require(refusal { _ = try Keyring(opening: store, with: masterKey, at: .now) })
        #expect(error.code == .keyDamaged)
        #expect(error.detail.contains("the master key is the right one"))
    }

    @Test func `a data key cannot take another's identifier`() throws {
        let store = MemoryStore()
        let masterKey = MasterKey.random()
        _ = try Keyring(opening: store, with: masterKey, at: .now)
        store.rows.withLock { rows in
            let row = rows[0]
            rows = [
                SealedDataKey(
                    identifier: 129, bytes: row.bytes, masterKeyCheck: row.masterKeyCheck, createdAt: row.createdAt)
            ]
        }
        #expect(refusal { _ = try Keyring(opening: store, with: masterKey, at: .now) }?.code == .keyDamaged)
    }

    @Test func `a data key that cannot be locked in memory is added, and from then on the keyring reports it`() throws {
        let masterKey = MasterKey.random()
        let keyring = try Keyring(opening: MemoryStore(), with: masterKey, at: .now)
        let before = keyring.isLockedInMemory
        try keyring.add(DataKeySeal.create(identifier: 129, under: masterKey, at: .now), with: masterKey) { _ in true }
        #expect(keyring.isLockedInMemory == before)
        try keyring.add(DataKeySeal.create(identifier: 130, under: masterKey, at: .now), with: masterKey) { _ in false }
        #expect(!keyring.isLockedInMemory && keyring.highest == 130)
        try keyring.add(DataKeySeal.create(identifier: 131, under: masterKey, at: .now), with: masterKey) { _ in true }
        #expect(!keyring.isLockedInMemory)
    }

    @Test func `a data key that was added only unseals, until it is chosen to seal`() throws {
        let masterKey = MasterKey.random()
        let keyring = try Keyring(opening: MemoryStore(), with: masterKey, at: .now)
        let first = keyring.newest
        try keyring.add(DataKeySeal.create(identifier: first + 1, under: masterKey, at: .now), with: masterKey)
        #expect(keyring.newest == first && keyring.highest == first + 1)
        keyring.forgetOlder(than: first + 1)
        #expect(keyring.holds(first) && keyring.holds(first + 1))
        keyring.sealNew(under: first + 2)
        #expect(keyring.newest == first, "the keyring does not have this data key")
        keyring.sealNew(under: first + 1)
        keyring.sealNew(under: first)
        #expect(keyring.newest == first + 1)
        keyring.forgetOlder(than: first + 1)
        #expect(!keyring.holds(first) && keyring.holds(first + 1))
    }

    @Test func `a key that was sealed before a restart can be unsealed after the restart`() throws {
        let store = MemoryStore()
        let masterKey = MasterKey.random()
        let before = try store.custody(masterKey)
        let new = try before.generateKeyPair(
            algorithm: .ecV1, purpose: .paymentProcessing, for: CustodyFixture.merchant)
        store.add(new, of: CustodyFixture.merchant)
        let after = try store.custody(masterKey)
        let first = try before.exportPrivateKey(new.publicKeyHash).withUnsafeBytes { Array($0) }
        let second = try after.exportPrivateKey(new.publicKeyHash).withUnsafeBytes { Array($0) }
        #expect(first == second)
    }

    private func change(_ store: MemoryStore, _ change: (inout [UInt8]) -> Void) {
        store.rows.withLock { rows in
            let row = rows[0]
            var bytes = row.bytes
            change(&bytes)
            rows[0] = SealedDataKey(
                identifier: row.identifier, bytes: bytes, masterKeyCheck: row.masterKeyCheck, createdAt: row.createdAt)
        }
    }
}
