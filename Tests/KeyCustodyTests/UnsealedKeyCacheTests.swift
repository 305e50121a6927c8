import Crypto
import Foundation
import KeyCustody
import MerchantCore
import Secrets
import Synchronization
import Testing
import Vocabulary

@Suite struct UnsealedKeyCacheTests {
    private let point = Array(P256.KeyAgreement.PrivateKey().publicKey.derRepresentation)

    @Test func `a revocation and a restore take effect at the next request`() throws {
        let fixture = try CustodyFixture()
        let hash = try fixture.generate().publicKeyHash
        let first = try fixture.symmetricKey(hash, .ephemeralPublicKey(point))
        #expect(fixture.cache.count == 1)
        fixture.store.setState(.revoked, of: hash)
        fixture.cache.keysChanged([hash])
        #expect(fixture.cache.count == 0)
        #expect(refusal { try fixture.symmetricKey(hash, .ephemeralPublicKey(point)) }?.code == .keyRevoked)
        fixture.store.setState(.retiring, of: hash)
        fixture.cache.keysChanged([hash])
        #expect(try fixture.symmetricKey(hash, .ephemeralPublicKey(point)) == first)
    }

    @Test func `without a lease the key is read from the store, and a change of all keys empties the cache`() throws {
        let fixture = try CountingCustody()
        func use() throws -> Int {
            _ = try fixture.custody.symmetricKey(fixture.hash, from: .ephemeralPublicKey(point))
            return fixture.reads
        }
        #expect(try [use(), use()] == [1, 2])
        fixture.lease.setEnd(.now + .seconds(3600))
        #expect(try use() == 2)
        fixture.cache.allKeysChanged()
        #expect(fixture.cache.count == 0)
        #expect(try [use(), use()] == [3, 3])
        fixture.lease.setEnd(.now)
        #expect(try use() == 4)
    }

    @Test func `cachedSymmetricKey uses only a cached key, and never reads the store`() throws {
        let fixture = try CountingCustody()
        func cached() throws -> [UInt8]? {
            let key = try fixture.custody.cachedSymmetricKey(fixture.hash, from: .ephemeralPublicKey(point))
            return key?.withUnsafeBytes { Array($0) }
        }
        func read() throws -> [UInt8] {
            try fixture.custody.symmetricKey(fixture.hash, from: .ephemeralPublicKey(point)).withUnsafeBytes {
                Array($0)
            }
        }
        fixture.lease.setEnd(.now + .seconds(3600))
        #expect(try cached() == nil && fixture.reads == 0)
        #expect(try read() == cached())
        let error = refusal { try fixture.custody.cachedSymmetricKey(fixture.hash, from: .wrappedKey([])) }
        #expect(error?.code == .malformed)
        fixture.cache.keysChanged([fixture.hash])
        #expect(try cached() == nil)
        #expect(try read() == cached())
        fixture.lease.setEnd(.now)
        #expect(try cached() == nil && fixture.reads == 2)
    }

    @Test func `a key that is revoked while it is read is not cached`() throws {
        let store = MemoryStore()
        let afterRead = Mutex<(@Sendable () -> Void)?>(nil)
        let cache = UnsealedKeyCache()
        let keyring = try Keyring(opening: store, with: MasterKey.random(), at: .now)
        let custody = KeyCustody(keyring: keyring, cache: cache) { hash in
            let found = store.pairs.withLock { $0[hash] }
            // Changes the key between its read and its caching.
            afterRead.withLock { $0.take() }?()
            return found
        }
        let new = try custody.generateKeyPair(
            algorithm: .ecV1, purpose: .paymentProcessing, for: CustodyFixture.merchant)
        store.add(new, of: CustodyFixture.merchant)
        afterRead.withLock { pending in
            pending = {
                store.setState(.revoked, of: new.publicKeyHash)
                cache.keysChanged([new.publicKeyHash])
            }
        }
        _ = try? custody.symmetricKey(new.publicKeyHash, from: .ephemeralPublicKey(point))
        #expect(cache.count == 0)
        let error = refusal { try custody.symmetricKey(new.publicKeyHash, from: .ephemeralPublicKey(point)) }
        #expect(error?.code == .keyRevoked)
    }

    @Test func `changes of other keys do not prevent caching`() throws {
        let fixture = try CustodyFixture()
        let hash = try fixture.generate().publicKeyHash
        fixture.cache.keysChanged([PublicKeyHash(of: [1])])
        _ = try fixture.symmetricKey(hash, .ephemeralPublicKey(point))
        #expect(fixture.cache.count == 1)
    }

    @Test func `the cache of unsealed keys is bounded, and keys in use stay in it`() throws {
        let cache = UnsealedKeyCache(capacity: 8)
        let reads = Mutex<[PublicKeyHash: Int]>([:])
        let store = MemoryStore()
        let custody = KeyCustody(
            keyring: try Keyring(opening: MemoryStore(), with: MasterKey.random(), at: .now), cache: cache
        ) { hash in
            reads.withLock { $0[hash, default: 0] += 1 }
            return store.pairs.withLock { $0[hash] }
        }
        let keys = try (0..<40).map { _ in
            let new = try custody.generateKeyPair(
                algorithm: .ecV1, purpose: .paymentProcessing, for: CustodyFixture.merchant)
            store.add(new, of: CustodyFixture.merchant)
            return new.publicKeyHash
        }
        let busy = keys[0]
        for hash in keys {
            _ = try custody.symmetricKey(hash, from: .ephemeralPublicKey(point))
            _ = try custody.symmetricKey(busy, from: .ephemeralPublicKey(point))
            #expect(cache.count <= 8)
        }
        #expect(cache.count == 8)
        #expect(reads.withLock { $0[busy] } == 1)
        cache.keysChanged(keys)
        #expect(cache.count == 0)
        for hash in keys { _ = try custody.symmetricKey(hash, from: .ephemeralPublicKey(point)) }
        #expect(cache.count == 8)
    }

    @Test func `concurrent requests and changes give no wrong result and leave no revoked key usable`() async throws {
        let fixture = try CustodyFixture(capacity: 4)
        let hashes = try (0..<8).map { _ in try fixture.generate().publicKeyHash }
        let point = self.point
        let expected = try hashes.map { try fixture.symmetricKey($0, .ephemeralPublicKey(point)) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<4 {
                group.addTask {
                    for round in 0..<400 {
                        let index = (round + worker) % hashes.count
                        if round % 7 == worker { fixture.cache.keysChanged([hashes[index]]) }
                        let key = try fixture.symmetricKey(hashes[index], .ephemeralPublicKey(point))
                        #expect(key == expected[index])
                    }
                }
            }
            try await group.waitForAll()
        }
        for hash in hashes { fixture.store.setState(.revoked, of: hash) }
        fixture.cache.keysChanged(hashes)
        for hash in hashes {
            #expect(refusal { try fixture.symmetricKey(hash, .ephemeralPublicKey(point)) }?.code == .keyRevoked)
        }
    }
}

/// A key custody with one key pair. Counts how often the custody reads a key pair from the store.
private final class CountingCustody: Sendable {
    let lease: Lease
    let cache: UnsealedKeyCache
    let custody: KeyCustody
    let hash: PublicKeyHash
    private let counter: Counter

    var reads: Int { counter.value.withLock { $0 } }

    init() throws {
        let (store, counter) = (MemoryStore(), Counter())
        lease = Lease()
        cache = UnsealedKeyCache(lease: lease)
        let keyring = try Keyring(opening: store, with: MasterKey.random(), at: .now)
        custody = KeyCustody(keyring: keyring, cache: cache) { hash in
            counter.value.withLock { $0 += 1 }
            return store.pairs.withLock { $0[hash] }
        }
        let new = try custody.generateKeyPair(
            algorithm: .ecV1, purpose: .paymentProcessing, for: CustodyFixture.merchant)
        store.add(new, of: CustodyFixture.merchant)
        (hash, self.counter) = (new.publicKeyHash, counter)
    }

    private final class Counter: Sendable {
        let value = Mutex(0)
    }
}
