import Crypto
import Foundation
import KeyCustody
import MerchantCore
import Synchronization
import Testing
import Vocabulary

@Suite struct HotKeyTests {
    private let point = Array(P256.KeyAgreement.PrivateKey().publicKey.derRepresentation)

    @Test func `a revoke is seen by the very next request, and a restore too`() throws {
        let bench = try Bench()
        let hash = try bench.generate().publicKeyHash
        let first = try bench.symmetricKey(hash, .ephemeralPublicKey(point))
        #expect(bench.custody.hotKeyCount == 1)
        bench.store.setState(.revoked, of: hash)
        bench.custody.keysChanged([hash])
        #expect(bench.custody.hotKeyCount == 0)
        #expect(refusal { try bench.symmetricKey(hash, .ephemeralPublicKey(point)) }?.code == .keyRevoked)
        bench.store.setState(.retiring, of: hash)
        bench.custody.keysChanged([hash])
        #expect(try bench.symmetricKey(hash, .ephemeralPublicKey(point)) == first)
    }

    @Test func `a key read before a revoke and kept after it is not kept at all`() throws {
        let store = MemoryStore()
        let reading = Mutex<(@Sendable () -> Void)?>(nil)
        let custody = KeyCustody(keyring: try Keyring(opening: store, with: MasterKey.random(), at: .now)) { hash in
            let found = store.pairs.withLock { $0[hash] }
            // What happens between the read and the keeping.
            reading.withLock { $0.take() }?()
            return found
        }
        let new = try custody.generateKeyPair(algorithm: .ecV1, purpose: .paymentProcessing, for: Bench.merchant)
        store.add(new, of: Bench.merchant)
        reading.withLock { pending in
            pending = {
                store.setState(.revoked, of: new.publicKeyHash)
                custody.keysChanged([new.publicKeyHash])
            }
        }
        _ = try? custody.symmetricKey(new.publicKeyHash, from: .ephemeralPublicKey(point))
        #expect(custody.hotKeyCount == 0)
        let error = refusal { try custody.symmetricKey(new.publicKeyHash, from: .ephemeralPublicKey(point)) }
        #expect(error?.code == .keyRevoked)
    }

    @Test func `changes of other keys do not keep a key from being kept`() throws {
        let bench = try Bench()
        let hash = try bench.generate().publicKeyHash
        bench.custody.keysChanged([PublicKeyHash(of: [1])])
        _ = try bench.symmetricKey(hash, .ephemeralPublicKey(point))
        #expect(bench.custody.hotKeyCount == 1)
    }

    @Test func `the memory of unsealed keys is bounded, and keys in use stay in it`() throws {
        let bench = try Bench(capacity: 8)
        let reads = Mutex<[PublicKeyHash: Int]>([:])
        let store = bench.store
        let custody = KeyCustody(
            keyring: try Keyring(opening: MemoryStore(), with: MasterKey.random(), at: .now), hotKeyCapacity: 8
        ) { hash in
            reads.withLock { $0[hash, default: 0] += 1 }
            return store.pairs.withLock { $0[hash] }
        }
        let keys = try (0..<40).map { _ in
            let new = try custody.generateKeyPair(algorithm: .ecV1, purpose: .paymentProcessing, for: Bench.merchant)
            store.add(new, of: Bench.merchant)
            return new.publicKeyHash
        }
        let busy = keys[0]
        for hash in keys {
            _ = try custody.symmetricKey(hash, from: .ephemeralPublicKey(point))
            _ = try custody.symmetricKey(busy, from: .ephemeralPublicKey(point))
            #expect(custody.hotKeyCount <= 8)
        }
        #expect(custody.hotKeyCount == 8)
        #expect(reads.withLock { $0[busy] } == 1)
        custody.keysChanged(keys)
        #expect(custody.hotKeyCount == 0)
        for hash in keys { _ = try custody.symmetricKey(hash, from: .ephemeralPublicKey(point)) }
        #expect(custody.hotKeyCount == 8)
    }

    @Test func `requests and changes from many threads leave neither a wrong answer nor a revoked key`() async throws {
        let bench = try Bench(capacity: 4)
        let hashes = try (0..<8).map { _ in try bench.generate().publicKeyHash }
        let point = self.point
        let expected = try hashes.map { try bench.symmetricKey($0, .ephemeralPublicKey(point)) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<4 {
                group.addTask {
                    for round in 0..<400 {
                        let index = (round + worker) % hashes.count
                        if round % 7 == worker { bench.custody.keysChanged([hashes[index]]) }
                        let key = try bench.symmetricKey(hashes[index], .ephemeralPublicKey(point))
                        #expect(key == expected[index])
                    }
                }
            }
            try await group.waitForAll()
        }
        for hash in hashes { bench.store.setState(.revoked, of: hash) }
        bench.custody.keysChanged(hashes)
        for hash in hashes {
            #expect(refusal { try bench.symmetricKey(hash, .ephemeralPublicKey(point)) }?.code == .keyRevoked)
        }
    }
}
