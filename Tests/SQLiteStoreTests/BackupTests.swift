import Foundation
import GRDB
import MerchantCore
import MerchantTestSupport
import SQLiteStore
import Testing
import Vocabulary

@Suite struct BackupTests {
    let temporary: TemporaryStore

    init() throws { temporary = try TemporaryStore() }

    private func file(_ name: String) -> String { temporary.directory.appending(path: name).path }

    private func backUp(_ name: String) async throws -> BackupManifest {
        try await temporary.backUp(to: file(name))
    }

    /// The backup's database, opened as a store.
    private func opened(_ name: String) throws -> SQLiteStore {
        let copy = file("\(name).copy")
        try BackupFile(reading: file(name)).copyDatabase(to: copy)
        return try SQLiteStore.open(path: copy)
    }

    @Test func `a backup has one consistent state of a database that changes, and a manifest that matches it`()
        async throws
    {
        let writer = Task { [temporary] in
            for seed in 0..<400 {
                try await temporary.store.write { transaction in
                    let merchant = Sample.merchant(seed)
                    try transaction.insert(Sample.record(merchant))
                    try transaction.append(Sample.entry(.merchantAdded, merchant: merchant))
                    let keyPair = Sample.keyPair(seed, of: merchant)
                    try transaction.insert(keyPair, Sample.new(keyPair, seed: seed))
                    try transaction.append(Sample.entry(.keyGenerated, merchant: merchant))
                }
            }
        }
        var seen: Set<Int> = []
        for number in 0..<20 {
            let manifest = try await backUp("b\(number)")
            #expect(try mode(of: file("b\(number)")) == 0o600)
            let read = try BackupFile(reading: file("b\(number)")).manifest
            #expect(read == manifest)
            let copy = try opened("b\(number)")
            #expect(try await copy.manifestFindings(manifest) == [])
            #expect(try await copy.quickCheck() == [])
            #expect(manifest.keyPairs[.pending] == manifest.merchants)
            #expect(manifest.auditHead?.sequence ?? 0 == 2 * manifest.merchants)
            try copy.close()
            seen.insert(manifest.merchants)
        }
        try await writer.value
        #expect(seen.count > 3, "merchants in the backups: \(seen)")
        let names = try FileManager.default.contentsOfDirectory(atPath: temporary.directory.path)
        #expect(!names.contains { $0.hasSuffix(".new") || $0.hasSuffix("-journal") }, "\(names)")
    }

    @Test func `a changed byte of the database and a truncation anywhere in a backup are detected`() async throws {
        for seed in 0..<20 { try await temporary.onboard(Sample.merchant(seed), seed: seed) }
        let manifest = try await backUp("good")
        let good = try Data(contentsOf: URL(filePath: file("good")))
        var random = SeededGenerator(seed: 5)
        for round in 0..<200 {
            var bytes = good
            if round.isMultiple(of: 2) {
                let place = Int.random(in: 0..<manifest.databaseBytes, using: &random)
                bytes[place] ^= UInt8.random(in: 1...255, using: &random)
            } else {
                bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random))
            }
            let name = file("bad\(round)")
            try bytes.write(to: URL(filePath: name))
            let refused = await refusal { try BackupFile(reading: name).copyDatabase(to: name + ".copy") }
            #expect(refused?.code == .backupFailed, "round \(round)")
            #expect(!FileManager.default.fileExists(atPath: name + ".copy"))
            try FileManager.default.removeItem(atPath: name)
        }
        for (text, words) in [("", "manifest"), ("SQLite\n{}\n", "manifest")] {
            try Data(text.utf8).write(to: URL(filePath: file("none")))
            #expect(await refusal { _ = try BackupFile(reading: file("none")) }?.detail.contains(words) == true)
        }
    }

    @Test(arguments: [Int.max, Int.max - 4096, .min, -1, 0, 1])
    func `a manifest with a wrong length of the database is refused with the length found and expected`(_ length: Int)
        async throws
    {
        let manifest = try await backUp("good")
        let good = try Data(contentsOf: URL(filePath: file("good")))
        let line = try #require(String(bytes: good[manifest.databaseBytes...], encoding: .utf8))
        let changed = line.replacing("\"databaseBytes\":\(manifest.databaseBytes)", with: "\"databaseBytes\":\(length)")
        #expect(changed != line)
        try (good[..<manifest.databaseBytes] + Data(changed.utf8)).write(to: URL(filePath: file("bad")))
        let refused = await refusal { _ = try BackupFile(reading: file("bad")) }
        #expect(refused?.code == .backupFailed)
        let found = length == 1 ? "1 byte" : "\(length) bytes"
        #expect(refused?.detail.contains("has \(found), expected \(manifest.databaseBytes)") == true)
    }

    @Test func `a FIFO instead of a backup is refused without waiting`() async throws {
        _ = try await backUp("b")
        let backup = try BackupFile(reading: file("b"))
        try FileManager.default.removeItem(atPath: file("b"))
        #expect(mkfifo(file("b"), 0o600) == 0)
        // Opens the FIFO after a while, so that a reader that waits fails the test and does not hang.
        let release = Task { [path = file("b")] in
            try await Task.sleep(for: .seconds(5))
            close(open(path, O_WRONLY | O_NONBLOCK))
        }
        defer { release.cancel() }
        let begin = ContinuousClock.now
        let refused = await refusal { try backup.copyDatabase(to: file("copy")) }
        #expect(ContinuousClock.now - begin < .seconds(4))
        #expect(refused?.code == .backupFailed)
    }

    @Test func `a backup never replaces an existing file, and fails if its directory is missing`() async throws {
        try Data("other".utf8).write(to: URL(filePath: file("existing")))
        #expect(await refusal { _ = try await backUp("existing") }?.detail.contains("exists") == true)
        #expect(try String(contentsOfFile: file("existing"), encoding: .utf8) == "other")
        #expect(await refusal { _ = try await backUp("nowhere/b") }?.code == .backupFailed)
        #expect(temporary.store.health == .ready)
    }

    @Test func `a backup does not contain private keys that were destroyed before`() async throws {
        for seed in 0..<30 { try await temporary.onboard(Sample.merchant(seed), .revoked, seed: seed) }
        for seed in 0..<30 where seed != 7 {
            try await temporary.store.write { try $0.removeSealedPrivateKey(of: Sample.hash(seed)) }
        }
        _ = try await backUp("b")
        let bytes = try Data(contentsOf: URL(filePath: file("b")))
        for seed in 0..<30 {
            let mark = Data((Sample.sealedMark + String(format: "%08d", seed)).utf8)
            #expect((bytes.range(of: mark) != nil) == (seed == 7))
        }
    }

    @Test func `a merchant counts as backed up if a verified backup contains its newest key pair`() async throws {
        func coverage() throws -> BackupCoverage {
            try temporary.store.readNow { try $0.backupCoverage(at: Sample.time) }
        }
        for seed in 0..<5 { try await temporary.onboard(Sample.merchant(seed), seed: seed) }
        #expect(try coverage().merchantsAwaitingBackup == 5)
        let manifest = try await backUp("b")
        try await temporary.store.write { [path = file("b")] in try $0.record(manifest, at: path, verifiedAt: nil) }
        #expect(try coverage().merchantsAwaitingBackup == 5)
        try await temporary.store.write { [path = file("b")] in
            try $0.record(manifest, at: path, verifiedAt: Sample.time)
        }
        #expect(try coverage().merchantsAwaitingBackup == 0)
        #expect(try coverage().newestVerifiedPath == file("b"))
        try await temporary.onboard(Sample.merchant(3), seed: 9)
        try await temporary.onboard(Sample.merchant(8), seed: 10)
        #expect(try coverage().merchantsAwaitingBackup == 2)
        #expect(try coverage().firstMerchantsAwaitingBackup == [Sample.merchant(3), Sample.merchant(8)])
    }
}
