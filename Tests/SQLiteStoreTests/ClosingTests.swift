import Foundation
import GRDB
import MerchantCore
import SQLiteStore
import Testing
import Vocabulary

@Suite struct ClosingTests {
    private func logSize(_ temporary: TemporaryStore) throws -> Int {
        let log = temporary.path + "-wal"
        guard FileManager.default.fileExists(atPath: log) else { return 0 }
        return try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int ?? -1
    }

    /// Uses all readers. A reader that was not opened before the log was removed cannot be opened; its error is ignored.
    private func read(_ store: SQLiteStore) async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 { group.addTask { _ = try? await store.read { try $0.keyPairs(of: Sample.merchant) } } }
        }
    }

    @Test(arguments: [false, true])
    func `after closing, the database file contains every write, although readers were just used`(losesLog: Bool)
        async throws
    {
        for round in 0..<50 {
            let temporary = try TemporaryStore()
            let store = temporary.store
            try await temporary.onboard()
            #expect(try logSize(temporary) > 0)
            await read(store)
            if losesLog { try FileManager.default.removeItem(atPath: temporary.path + "-wal") }
            await read(store)
            try store.close()
            #expect(try logSize(temporary) == 0, "round \(round)")
            let again = try SQLiteStore.open(path: temporary.path)
            #expect(try again.readNow { try $0.keyPairs(of: Sample.merchant).count } == 1, "round \(round)")
            try again.close()
        }
    }

    @Test func `closing keeps the log while another program reads, and that program checkpoints the log when it ends`()
        async throws
    {
        let temporary = try TemporaryStore()
        try await temporary.onboard()
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let program = try DatabaseQueue(path: temporary.path, configuration: configuration)
        try await program.writeWithoutTransaction { db in
            try db.beginTransaction(.deferred)
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM merchants") == 1)
        }
        try await temporary.store.write { try $0.setDaemonValue("late", "yes") }
        try temporary.store.close()
        #expect(try logSize(temporary) > 0)
        try await program.writeWithoutTransaction { try $0.rollback() }
        try program.close()
        #expect(try logSize(temporary) == 0)
        let again = try SQLiteStore.open(path: temporary.path)
        #expect(try again.readNow { try $0.daemonValue("late") } == "yes")
        try again.close()
    }
}
