import MerchantCore
import Testing
import Vocabulary

/// The contract of ``KeyPairReading`` and ``KeyPairWriting``.
@Suite struct KeyPairContract {
    @Test(arguments: StoreUnderTest.allCases)
    func `a key pair is read as it was stored, with its certificates and its CSR`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.storeMerchant(0, .pending, .standby)
        try store.repository.readNow { reading throws in
            #expect(try reading.keyPair(Sample.hash(1)) == Sample.keyPair(1, .standby))
            #expect(try reading.keyPair(Sample.hash(9)) == nil)
            #expect(
                try reading.keyPairs(of: Sample.identifier(0)).map(\.publicKeyHash) == [Sample.hash(0), Sample.hash(1)])
            #expect(try reading.certificates(of: Sample.hash(0)).isEmpty)
            #expect(try reading.certificates(of: Sample.hash(1)) == [Sample.certificate(1)])
            #expect(try reading.certificateSigningRequest(of: Sample.hash(0)) == [3, 4])
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `rows that are read together equal those that are read one by one`(store: StoreUnderTest) async throws {
        let store = try store.open()
        // More than a hundred key pairs, with the hashes 0 to 119.
        for merchant in 0..<12 {
            try await store.storeMerchant(
                merchant, .pending, .standby, .current, .retiring, .retiring, .retiring, .revoked, .standby, .pending,
                .standby)
        }
        try await store.write { transaction in
            _ = try transaction.insert(Sample.certificate(200), of: Sample.hash(1))
            try transaction.addKeyUses([1, 5, 6].map { (Sample.hash($0), KeyUseContract.use($0, 10, 20)) })
        }
        try store.repository.readNow { reading throws in
            #expect(try reading.keyPairs([PublicKeyHash]()).isEmpty)
            #expect(try reading.certificates(of: [PublicKeyHash]()).isEmpty)
            #expect(try reading.keyUses(of: []).isEmpty)
            #expect(try reading.keyPairSummaries(of: []).isEmpty)
            for count in [1, 2, 3, 64, 65, 119] {
                // The hash 250 is not stored, and the last hash is listed twice.
                let hashes = (0..<count).map(Sample.hash) + [Sample.hash(250), Sample.hash(count - 1)]
                let keyPairs = try reading.keyPairs(hashes)
                let (certificates, uses) = (try reading.certificates(of: hashes), try reading.keyUses(of: hashes))
                for hash in hashes {
                    #expect(try keyPairs[hash] == reading.keyPair(hash))
                    let single = try reading.certificates(of: hash)
                    #expect(certificates[hash] == (single.isEmpty ? nil : single))
                    #expect(try uses[hash] == reading.keyUse(of: hash))
                }
                #expect(keyPairs.count == count && keyPairs[Sample.hash(250)] == nil)
            }
            // A long list with duplicates, which takes several queries.
            let long = (0..<2500).map { Sample.hash($0 % 120) }
            #expect(try reading.keyPairs(long).count == 120)
            #expect(try reading.certificates(of: long) == reading.certificates(of: (0..<120).map(Sample.hash)))
            #expect(try reading.certificates(of: [Sample.hash(1)])[Sample.hash(1)]?.count == 2)
            #expect(Set(try reading.keyUses(of: (0..<9).map(Sample.hash)).keys) == Set([1, 5, 6].map(Sample.hash)))
            let summaries = try reading.keyPairSummaries(of: (0..<40).map(Sample.identifier))
            #expect(summaries.count == 12 && summaries.values.allSatisfy { $0.active == 7 })
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a change of state, times and reason is stored`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.storeMerchant(0, .standby)
        var changed = Sample.keyPair(0, .revoked)
        changed.stateSince = Sample.time(50)
        changed.revocationReason = "lost"
        changed.destroyAfter = Sample.time(60)
        changed.exportedAt = Sample.time(40)
        try await store.write { [changed] in try $0.update(changed) }
        #expect(try await store.read { try $0.keyPair(Sample.hash(0)) } == changed)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a second key pair with the same hash, and one of an unknown or removed merchant, are refused`(
        store: StoreUnderTest
    ) async throws {
        let store = try store.open()
        try await store.storeMerchant(0, .pending)
        try await store.storeMerchant(1)
        func insert(_ keyPair: KeyPair) async throws -> MerchantError.Code? {
            try await store.refusal { try $0.insert(keyPair, Sample.new(keyPair)) }
        }
        #expect(try await insert(Sample.keyPair(0)) == .keyExists)
        #expect(try await insert(Sample.keyPair(0, of: 1)) == .keyBelongsToAnotherMerchant)
        #expect(try await insert(Sample.keyPair(5, of: 7)) == .merchantNotFound)
        try await store.write { transaction in
            var removed = Sample.merchant(1)
            removed.removedAt = Sample.time(1)
            try transaction.update(removed)
        }
        #expect(try await insert(Sample.keyPair(5, of: 1)) == .merchantRemoved)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a merchant has at most one current key pair of a purpose and algorithm`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.storeMerchant(0, .current, .standby)
        #expect(try await store.refusal { try $0.update(Sample.keyPair(1, .current)) } == .currentKeyExists)
        let third = Sample.keyPair(2, .current)
        #expect(try await store.refusal { try $0.insert(third, Sample.new(third)) } == .currentKeyExists)
        #expect(try await store.refusal { try $0.update(Sample.keyPair(8)) } == .keyNotFound)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a certificate is stored once, and only with a known key pair`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.storeMerchant(0, .pending)
        #expect(try await store.write { try $0.insert(Sample.certificate(1), of: Sample.hash(0)) })
        #expect(try await store.write { try !$0.insert(Sample.certificate(1), of: Sample.hash(0)) })
        #expect(try await store.read { try $0.certificates(of: Sample.hash(0)).count } == 1)
        #expect(
            try await store.refusal { _ = try $0.insert(Sample.certificate(2), of: Sample.hash(9)) }
                == .certificateKeyUnknown)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `key pairs are found by the beginning of every spelling of their hash`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.storeMerchant(0, .pending, .pending)
        let hash = Sample.hash(1)
        for text in [hash.hex, hash.base64, hash.base64URL] {
            let prefix = String(text.prefix(6))
            let found = try await store.read { try $0.keyPairs(prefix: prefix, limit: 5).map(\.publicKeyHash) }
            #expect(found == [hash], "\(prefix)")
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `key pairs in one state are listed oldest first, after a cursor`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.storeMerchant(0, .standby, .pending, .standby)
        let (all, rest) = try await store.read {
            (
                try $0.keyPairs(in: .standby, after: nil, limit: 9).map(\.publicKeyHash),
                try $0.keyPairs(in: .standby, after: Sample.hash(0), limit: 9).map(\.publicKeyHash)
            )
        }
        #expect(all == [Sample.hash(0), Sample.hash(2)] && rest == [Sample.hash(2)])
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `active key pairs whose certificate expires before a time are listed by expiry, after a cursor`(
        store: StoreUnderTest
    ) async throws {
        let store = try store.open()
        // The certificate of key pair 0 expires after 100 days, of key pair 1 after 101 days, and so on.
        try await store.storeMerchant(0, .retiring, .current, .standby, .revoked, .pending)
        try await store.write { _ = try $0.insert(Sample.certificate(9, days: 200), of: Sample.hash(0)) }
        func list(_ days: Int, _ state: KeyState? = nil, after cursor: Int? = nil, limit: Int = 9) async throws -> [Int]
        {
            let found = try await store.read {
                try $0.keyPairs(
                    expiringBefore: Sample.time(days * 86_400), in: state, after: cursor.map(Sample.hash), limit: limit)
            }
            return found.compactMap { keyPair in (0..<10).first { Sample.hash($0) == keyPair.publicKeyHash } }
        }
        #expect(try await list(101) == [])
        #expect(try await list(102) == [1])
        #expect(try await list(300) == [1, 2, 0], "the last certificate of key pair 0 counts")
        #expect(try await list(300, limit: 2) == [1, 2])
        #expect(try await list(300, after: 1) == [2, 0])
        #expect(try await list(300, after: 0) == [])
        #expect(try await list(300, .standby) == [2])
        #expect(try await list(300, .current, after: 1) == [])
        #expect(try await list(300, .revoked) == [])
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a merchant's pending and active key pairs of both purposes are counted`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.storeMerchant(0, .pending, .standby, .current, .retiring, .revoked)
        try await store.write { transaction in
            try transaction.insert(Sample.merchant(1))
            let keyPair = Sample.keyPair(8, of: 0, .pending, purpose: .identity)
            try transaction.insert(keyPair, Sample.new(keyPair))
        }
        func count(_ merchant: Int) async throws -> Int {
            try await store.read { try $0.countPendingAndActiveKeyPairs(of: Sample.identifier(merchant)) }
        }
        #expect(try await count(0) == 5)
        #expect(try await count(1) == 0)
        #expect(try await count(2) == 0)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a merchant has at most 64 pending and active key pairs`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.storeMerchant(0, .standby, .revoked)
        try await store.storeMerchant(20, .pending)
        try await store.write { transaction in
            for number in 3..<66 {
                let keyPair = Sample.keyPair(number, of: 0, .pending)
                try transaction.insert(keyPair, Sample.new(keyPair))
            }
        }
        let refused = Sample.keyPair(66, of: 0, .pending)
        #expect(try await store.refusal { try $0.insert(refused, Sample.new(refused)) } == .keyStateConflict)
        try await store.write { transaction in
            for keyPair in [Sample.keyPair(67, of: 20, .pending), Sample.keyPair(68, of: 0, .revoked)] {
                try transaction.insert(keyPair, Sample.new(keyPair))
            }
        }
        #expect(try await store.read { try $0.countPendingAndActiveKeyPairs(of: Sample.identifier(0)) } == 64)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `the active identity key pairs of a merchant are found`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.storeMerchant(0, .standby)
        try await store.write { transaction in
            for (number, state) in [(5, KeyState.standby), (6, .pending), (7, .retiring)] {
                let keyPair = Sample.keyPair(number, state, purpose: .identity)
                try transaction.insert(keyPair, Sample.new(keyPair))
            }
            try transaction.insert(Sample.merchant(1))
            let keyPair = Sample.keyPair(8, of: 1, .standby, purpose: .identity)
            try transaction.insert(keyPair, Sample.new(keyPair))
        }
        func found(_ merchant: Int) async throws -> [PublicKeyHash] {
            try await store.read { try $0.activeIdentityKeyPairs(of: Sample.identifier(merchant)).map(\.publicKeyHash) }
        }
        #expect(try await found(0) == [Sample.hash(5), Sample.hash(7)])
        #expect(try await found(1) == [Sample.hash(8)])
        #expect(try await found(2) == [])
    }
}
