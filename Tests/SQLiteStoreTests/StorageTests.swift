import Foundation
import GRDB
import MerchantCore
import MerchantTestSupport
import SQLiteStore
import Testing
import Vocabulary

@Suite struct StorageTests {
    /// Each test has its own instance of the suite, and so its own store.
    let temporary: TemporaryStore

    init() throws { temporary = try TemporaryStore() }

    /// The numbers of the key pairs whose sealed bytes, or a part of them, are in the file.
    private func sealedSeeds(in path: String) throws -> Set<Int> {
        let mark = Data(Sample.sealedMark.utf8)
        guard let bytes = FileManager.default.contents(atPath: path) else { return [] }
        var seeds: Set<Int> = []
        var rest = bytes[...]
        while let found = rest.range(of: mark) {
            let number = String(decoding: bytes[found.upperBound...].prefix(8), as: UTF8.self)
            seeds.insert(Int(number) ?? -1)
            rest = bytes[found.upperBound...]
        }
        return seeds
    }

    @Test
    func `after an erasure neither database nor log contains destroyed private keys, even if their rows changed often`()
        async throws
    {
        var random = SeededGenerator(seed: 20_260_101)
        for seed in 0..<600 {
            try await temporary.onboard(Sample.merchant(seed % 50), .pending, seed: seed)
        }
        for _ in 0..<1500 {
            let seed = Int.random(in: 0..<600, using: &random)
            let state = [KeyState.pending, .standby, .retiring, .revoked].randomElement(using: &random) ?? .pending
            let reason = String(repeating: "r", count: Int.random(in: 0..<900, using: &random))
            try await temporary.store.write { transaction throws in
                guard var keyPair = try transaction.keyPair(Sample.hash(seed)) else { return }
                keyPair.state = state
                keyPair.revocationReason = reason
                try transaction.update(keyPair)
            }
        }
        let destroyed = Set((0..<600).shuffled(using: &random).prefix(400))
        for seed in destroyed {
            try await temporary.store.write { try $0.removeSealedPrivateKey(of: Sample.hash(seed)) }
        }
        #expect(try sealedSeeds(in: temporary.path + "-wal").isDisjoint(with: destroyed) == false)
        try await temporary.store.eraseCopiesOfDestroyedSecrets()
        #expect(try sealedSeeds(in: temporary.path) == Set(0..<600).subtracting(destroyed))
        #expect(try sealedSeeds(in: temporary.path + "-wal") == [])
        try checkTotals(temporary)
        #expect(try await temporary.store.quickCheck() == [])
    }

    @Test func `the erasure fails while a reader is active, and writes continue`() async throws {
        let keyPair = try await temporary.onboard(Sample.merchant, .revoked)
        let connection = try DatabaseQueue(path: temporary.path)
        try await connection.writeWithoutTransaction { db in
            try db.execute(sql: "BEGIN")
            _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM key_pairs")
            try db.execute(sql: "COMMIT")
        }
        let reader = try DatabasePool(path: temporary.path)
        let held = try reader.makeSnapshot()
        _ = try await held.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM key_pairs") }
        try await temporary.store.write { try $0.removeSealedPrivateKey(of: keyPair.publicKeyHash) }
        async let erasure = refusal { try await temporary.store.eraseCopiesOfDestroyedSecrets() }
        try await temporary.store.write { try $0.setDaemonValue("written", "meanwhile") }
        #expect(await erasure?.code == .storeUnavailable)
        #expect(temporary.store.health == .ready)
        try held.close()
        try reader.close()
        try connection.close()
        try await temporary.store.eraseCopiesOfDestroyedSecrets()
        #expect(try temporary.store.settings()["busy_timeout"] == "5000")
    }

    @Test func `after a truncation of the log anywhere, the database has complete changes without gaps`() async throws {
        try await temporary.store.eraseCopiesOfDestroyedSecrets()
        for seed in 0..<40 {
            try await temporary.store.write { transaction throws in
                let merchant = Sample.merchant(seed)
                try transaction.insert(Sample.record(merchant))
                try transaction.append(Sample.entry(.merchantAdded, merchant: merchant))
                let keyPair = Sample.keyPair(seed, of: merchant)
                try transaction.insert(keyPair, Sample.new(keyPair, seed: seed))
                try transaction.append(Sample.entry(.keyGenerated, merchant: merchant, key: keyPair.publicKeyHash))
            }
        }
        let log = try Data(contentsOf: URL(filePath: temporary.path + "-wal"))
        let database = try Data(contentsOf: URL(filePath: temporary.path))
        var random = SeededGenerator(seed: 7)
        var merchantCounts: Set<Int> = []
        for _ in 0..<60 {
            let copy = try makeDirectory()
            defer { try? FileManager.default.removeItem(at: copy) }
            let path = copy.appending(path: "merchants.db").path
            let length = Int.random(in: 0...log.count, using: &random)
            for (bytes, name) in [(database, path), (log.prefix(length), path + "-wal")] {
                #expect(
                    FileManager.default.createFile(
                        atPath: name, contents: bytes, attributes: [.posixPermissions: 0o600]))
            }
            let store = try SQLiteStore.open(path: path)
            try store.readNow { reader throws in
                let merchants = try reader.merchants(after: nil, limit: 100).count
                let records = try reader.auditRecords(merchant: nil, key: nil, before: nil, limit: 100)
                let counts = try reader.counts(at: Sample.time)
                #expect(counts.merchants == merchants && counts.keyPairs[.pending] == merchants)
                #expect(records.count == 2 * merchants)
                #expect(records.filter { !$0.isIntact } == [])
                #expect(records.map(\.sequence) == Array((1...2 * max(merchants, 1)).reversed().prefix(records.count)))
                merchantCounts.insert(merchants)
            }
            #expect(try await store.quickCheck() == [])
            try store.close()
        }
        #expect(merchantCounts.count > 10)
    }

    @Test func `damage that a write finds stops all writes, and reads continue`() async throws {
        for seed in 0..<50 { try await temporary.onboard(seed: seed) }
        try temporary.store.close()
        let page = try temporary.withSeparateConnection {
            try Int.fetchOne($0, sql: "SELECT rootpage FROM sqlite_master WHERE name = 'audit_of_merchant'") ?? 0
        }
        let file = try FileHandle(forUpdating: URL(filePath: temporary.path))
        try file.seek(toOffset: UInt64(page - 1) * 4096)
        try file.write(contentsOf: Data(repeating: 0xFF, count: 4096))
        try file.close()

        let store = try SQLiteStore.open(path: temporary.path)
        let refused = await refusal {
            try await store.write { try $0.append(Sample.entry(.keyRevoked, merchant: Sample.merchant)) }
        }
        #expect(refused?.code == .storeUnavailable)
        #expect(refused?.detail.contains("damaged") == true)
        guard case .failed = store.health else {
            Issue.record("the store still accepts writes")
            return
        }
        let next = await refusal { try await store.write { try $0.setDaemonValue("a", "b") } }
        #expect(next == refused)
        #expect(try store.readNow { try $0.keyPair(Sample.hash(1)) } != nil)
        #expect(try await store.quickCheck() != [])
        try store.close()
    }
}
