import MerchantCore
import Testing
import Vocabulary

/// The contract of ``SealedKeyReading`` and ``SealedKeyWriting``.
@Suite struct SealedKeyContract {
    @Test(arguments: StoreUnderTest.allCases)
    func `a sealed private key is kept until it is destroyed with its key pair`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.storeMerchant(0, .revoked, .standby)
        #expect(try await store.read { try $0.sealedPrivateKey(of: Sample.hash(0))?.bytes } == [5, 6, 7])
        try await store.write { transaction in
            try transaction.removeSealedPrivateKey(of: Sample.hash(0))
            try transaction.update(Sample.keyPair(0, .destroyed))
        }
        try store.repository.readNow { reading throws in
            #expect(try reading.sealedPrivateKey(of: Sample.hash(0)) == nil)
            #expect(try reading.keyPair(Sample.hash(0))?.state == .destroyed)
            #expect(try reading.sealedPrivateKey(of: Sample.hash(1)) != nil)
        }
        #expect(try await store.refusal { try $0.removeSealedPrivateKey(of: Sample.hash(9)) } == .keyNotFound)
        try await store.repository.eraseCopiesOfDestroyedSecrets()
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `scheduled destructions are counted, listed and due in the order of their time`(
        store: StoreUnderTest
    ) async throws {
        let store = try store.open()
        try await store.storeMerchant(0, .revoked, .revoked, .revoked)
        try await store.write { transaction in
            for (number, due) in [(0, 300), (1, 100)] {
                var keyPair = Sample.keyPair(number, .revoked)
                keyPair.destroyAfter = Sample.time(due)
                try transaction.update(keyPair)
            }
        }
        try store.repository.readNow { reading throws in
            #expect(try reading.countScheduledForDestruction() == 2)
            #expect(
                try reading.keyPairsScheduledForDestruction(limit: 9).map(\.publicKeyHash) == [
                    Sample.hash(1), Sample.hash(0),
                ])
            #expect(try reading.keyPairsDueForDestruction(at: Sample.time(99), limit: 9).isEmpty)
            #expect(try reading.keyPairsDueForDestruction(at: Sample.time(100), limit: 9) == [Sample.hash(1)])
            #expect(try reading.keyPairsDueForDestruction(at: Sample.time(300), limit: 1) == [Sample.hash(1)])
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `every key pair is listed once over several pages`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.storeMerchant(0, .pending, .standby, .revoked)
        try await store.storeMerchant(1, .current, .retiring)
        var seen: [PublicKeyHash] = []
        while true {
            let cursor = seen.last
            let page = try await store.read { try $0.keyPairs(after: cursor, limit: 2).map(\.publicKeyHash) }
            guard !page.isEmpty else { break }
            seen += page
        }
        #expect(seen.count == 5 && Set(seen).count == 5)
    }
}
