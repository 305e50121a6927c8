import Foundation
import GRDB
import MerchantCore
import SQLiteStore
import Testing
import Vocabulary

/// A database file that was moved, replaced or removed while the store was in use.
@Suite struct ReplacedFileTests {
    let temporary: TemporaryStore

    init() throws { temporary = try TemporaryStore() }

    /// Removes the file, or moves it away and puts another database of this program in its place.
    private func moveAway(isReplaced: Bool) throws {
        if isReplaced {
            let other = try TemporaryStore()
            try other.store.close()
            try FileManager.default.moveItem(atPath: temporary.path, toPath: temporary.path + ".moved")
            try FileManager.default.moveItem(atPath: other.path, toPath: temporary.path)
        } else {
            try FileManager.default.removeItem(atPath: temporary.path)
        }
    }

    private func requireStopped(_ refused: MerchantError?) {
        #expect(refused?.code == .storeUnavailable)
        let detail = refused?.detail ?? "none"
        #expect(detail.contains("was removed or replaced while in use: found "), "\(detail)")
        #expect(detail.contains("expected inode ") && detail.contains("SIGTERM"), "\(detail)")
        #expect(detail.contains("nothing is written until the daemon starts again"), "\(detail)")
        guard case .failed = temporary.store.health else {
            Issue.record("the store still accepts changes")
            return
        }
    }

    @Test(arguments: [false, true])
    func `after the file was removed or replaced, every change is refused permanently, and reads continue`(
        isReplaced: Bool
    ) async throws {
        try await temporary.onboard(Sample.merchant(1), seed: 1)
        try temporary.store.wait(for: temporary.store.openReaders())
        try moveAway(isReplaced: isReplaced)
        requireStopped(await refusal { try await temporary.onboard(Sample.merchant(2), seed: 2) })
        #expect(try temporary.store.readNow { try $0.merchant(Sample.merchant(1)) } != nil)
        guard isReplaced else { return }
        try FileManager.default.removeItem(atPath: temporary.path)
        try FileManager.default.moveItem(atPath: temporary.path + ".moved", toPath: temporary.path)
        requireStopped(await refusal { try await temporary.onboard(Sample.merchant(3), seed: 3) })
    }

    /// A symbolic link to itself makes the file unreachable, also for root.
    @Test func `changes are refused while the file cannot be reached, and accepted again afterwards`() async throws {
        try await temporary.onboard(Sample.merchant(1), seed: 1)
        let directory = (temporary.path as NSString).deletingLastPathComponent
        try FileManager.default.moveItem(atPath: directory, toPath: directory + ".moved")
        try FileManager.default.createSymbolicLink(atPath: directory, withDestinationPath: directory)
        let refused = await refusal { try await temporary.onboard(Sample.merchant(2), seed: 2) }
        try FileManager.default.removeItem(atPath: directory)
        try FileManager.default.moveItem(atPath: directory + ".moved", toPath: directory)
        #expect(refused?.code == .storeUnavailable)
        #expect(refused?.detail.contains("cannot be reached") == true, "\(refused?.detail ?? "none")")
        try await temporary.onboard(Sample.merchant(3), seed: 3)
        #expect(temporary.store.health == .ready)
        #expect(try temporary.store.readNow { try $0.merchant(Sample.merchant(2)) } == nil)
    }

    @Test(.timeLimit(.minutes(1)), arguments: [false, true])
    func `every connection reads although the files were removed just after the start, or after an erasure`(
        isErased: Bool
    ) async throws {
        try await temporary.onboard(Sample.merchant(1), seed: 1)
        let store = temporary.store
        if isErased {
            try await store.eraseCopiesOfDestroyedSecrets()
        } else {
            try store.wait(for: store.openReaders())
        }
        for suffix in ["", "-wal"] { try FileManager.default.removeItem(atPath: temporary.path + suffix) }
        let found = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<32 {
                group.addTask {
                    try await store.read { reading in
                        // Long enough that the reads need all connections.
                        for _ in 0..<200 { _ = try reading.merchant(Sample.merchant(1)) }
                        return try reading.merchant(Sample.merchant(1)) != nil
                    }
                }
            }
            return try await group.reduce(true) { $0 && $1 }
        }
        #expect(found)
    }

    @Test func `a change is not acknowledged if the file was removed during its commit`() async throws {
        let path = temporary.path
        let refused = await refusal {
            try await temporary.store.write { transaction in
                try transaction.insert(Sample.record(Sample.merchant(1)))
                try FileManager.default.removeItem(atPath: path)
            }
        }
        requireStopped(refused)
    }

    @Test func `after a store that was read is closed, its file has every change, even if its log was removed`()
        async throws
    {
        for isRemoved in [false, true] {
            let temporary = try TemporaryStore()
            try await temporary.onboard(Sample.merchant(1), seed: 1)
            #expect(try temporary.store.readNow { try $0.merchant(Sample.merchant(1)) } != nil)
            if isRemoved { try FileManager.default.removeItem(atPath: temporary.path + "-wal") }
            try temporary.store.close()
            #expect(!FileManager.default.fileExists(atPath: temporary.path + "-wal"))
            #expect(
                try withSeparateConnection(to: temporary.path) {
                    try Int.fetchOne($0, sql: "SELECT count(*) FROM merchants")
                } == 1)
        }
    }

    @Test(arguments: [false, true])
    func `the log of a removed or replaced file is not emptied, because it may hold changes that the file lacks`(
        isReplaced: Bool
    ) async throws {
        try await temporary.onboard(Sample.merchant(1), seed: 1)
        let log = try Data(contentsOf: URL(filePath: temporary.path + "-wal"))
        #expect(!log.isEmpty)
        try moveAway(isReplaced: isReplaced)
        requireStopped(await refusal { try await temporary.store.eraseCopiesOfDestroyedSecrets() })
        #expect(try Data(contentsOf: URL(filePath: temporary.path + "-wal")) == log)
    }
}
