import MerchantCore
import MerchantTestSupport
import PostgresStore
import Testing
import Vocabulary

@Suite struct RotationTests {
    let database: TemporaryDatabase

    init() throws { database = try TemporaryDatabase() }

    private static let second = SealedDataKey(
        identifier: 2, bytes: [7, 8, 9], masterKeyCheck: [4, 5, 6], createdAt: Sample.time)

    @Test func `a rotation seals every private key again, and then overwrites the old data key`() async throws {
        let store = try database.store()
        try await store.write { transaction in
            try transaction.insert(Sample.record(0))
            for number in 0..<5 {
                try transaction.insert(Sample.keyPair(number), Sample.new(Sample.keyPair(number)))
            }
        }
        let rotation = try await store.beginRotation(
            to: Self.second, replacesMasterKey: true, generatedMasterKey: MasterKeyIdentifier(bytes: [1, 2]),
            recording: Sample.entry(0))
        #expect(rotation.total == 5)
        #expect(try await store.generatedMasterKey()?.bytes == [1, 2])
        let again = await refusal {
            _ = try await store.beginRotation(
                to: SealedDataKey(identifier: 3, bytes: [1], masterKeyCheck: [1], createdAt: Sample.time),
                replacesMasterKey: false, generatedMasterKey: nil, recording: Sample.entry(0))
        }
        #expect(again?.code == .masterKeyConflict)
        #expect(try await store.eraseOldDataKeysIfUnused(in: rotation) == 5)

        var last = 0
        while true {
            let batch = try await store.sealedKeys(notUnder: 2, after: last, limit: 2)
            guard let row = batch.last?.row else { break }
            last = row
            try await store.replace(
                batch.map { ($0, SealedPrivateKey(version: 1, dataKeyIdentifier: 2, bytes: [1, 1, 1])) }, in: rotation)
        }
        #expect(try await store.lastRotation()?.done == 5)
        #expect(try await store.eraseOldDataKeysIfUnused(in: rotation) == 0)
        try await store.eraseCopiesOfOldKeys(after: rotation)
        try await store.finish(rotation, at: Sample.time, recording: Sample.entry(0))

        #expect(try await store.lastRotation()?.state == .finished)
        #expect(try store.dataKeys().map(\.bytes) == [[0, 0, 0], [7, 8, 9]])
        let sealed = try await store.read { try $0.sealedPrivateKey(of: Sample.hash(3)) }
        #expect(sealed?.dataKeyIdentifier == 2 && sealed?.bytes == [1, 1, 1])
        let late = await refusal {
            try await store.write { try $0.insert(Sample.keyPair(9), Sample.new(Sample.keyPair(9))) }
        }
        #expect(late?.code == .overloaded)
    }

    @Test func `a rotation seals every account number again, and erases those that cannot be unsealed`() async throws {
        let store = try database.store()
        let tokens = (1...3).compactMap { MerchantTokenIdentifier(text: "token-\($0)") }
        func sealed(_ token: Int, byte: UInt8, dataKey: Int) -> SealedMPAN {
            SealedMPAN(
                owner: SealedMPAN.Owner(tokens[token], of: Sample.merchant(0)), version: 1, dataKeyIdentifier: dataKey,
                bytes: [UInt8](repeating: byte, count: SealedMPAN.length))
        }
        let old = (0..<3).map { StoredMPAN(sealed: sealed($0, byte: 5, dataKey: 1), receivedAt: Sample.time) }
        try await store.write { transaction in
            try transaction.insert(Sample.record(0))
            for mpan in old {
                try transaction.store(
                    MerchantToken(
                        identifier: mpan.sealed.owner.merchantTokenIdentifier, merchantIdentifier: Sample.merchant(0),
                        firstSeenAt: Sample.time, lastSeenAt: Sample.time))
                try transaction.store(mpan)
            }
        }
        let rotation = try await store.beginRotation(
            to: Self.second, replacesMasterKey: false, generatedMasterKey: nil, recording: Sample.entry(0))
        #expect(try await store.eraseOldDataKeysIfUnused(in: rotation) == 3)
        let rows = try await store.sealedMPANs(notUnder: 2, after: 0, limit: 9)
        let renewed = [sealed(0, byte: 6, dataKey: 2), sealed(2, byte: 6, dataKey: 2)]
        try await store.replace([(old: rows[0], new: renewed[0]), (old: rows[2], new: renewed[1])])
        try await store.erase(rows[1], recording: Sample.entry(0, reason: "damaged"))
        // The account number of row 0 is sealed again, so it is not erased, and nothing is recorded.
        try await store.erase(rows[0], recording: Sample.entry(0, reason: "damaged"))
        #expect(try await store.eraseOldDataKeysIfUnused(in: rotation) == 0)
        let stored = try await store.read { try $0.mpans(after: nil, limit: 9) }
        #expect(stored.map(\.sealed) == renewed)
        let audit = try await store.read { try $0.auditRecords(merchant: nil, key: nil, before: nil, limit: 99) }
        #expect(audit.count { $0.entry.reason == "damaged" } == 1)
        let late = await refusal { try await store.write { try $0.store(old[1]) } }
        #expect(late?.code == .overloaded)
    }
}
