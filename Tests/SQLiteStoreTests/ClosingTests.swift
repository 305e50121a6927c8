import Foundation
import GRDB
import MerchantCore
import SQLiteStore
import Testing
import Vocabulary

@Suite("Closing")
struct ClosingTests {
    private func logSize(_ temporary: TemporaryStore) throws -> Int {
        let log = temporary.path + "-wal"
        guard FileManager.default.fileExists(atPath: log) else { return 0 }
        return try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int ?? -1
    }

    /// By all readers; one that was not open while the log was in its place refuses to be opened.
    private func read(_ store: SQLiteStore) async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 { group.addTask { _ = try? await store.read { try $0.keyPairs(of: Sample.merchant) } } }
        }
    }

    @Test(
        "all that was written is in the database when the store is closed, whoever has just read",
        arguments: [false, true])
    func readersLetGoLate(losesLog: Bool) async throws {
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

    @Test("the log keeps its content for another program that reads, which carries it over at its own end")
    func anotherReader() async throws {
        let temporary = try TemporaryStore()
        try await temporary.onboard()
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let program = try DatabaseQueue(path: temporary.path, configuration: configuration)
        try await program.writeWithoutTransaction { db in
            try db.beginTransaction(.deferred)
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM merchants") == 1)
        }
        try await temporary.store.write { try $0.setDaemonFact("late", "yes") }
        try temporary.store.close()
        #expect(try logSize(temporary) > 0)
        try await program.writeWithoutTransaction { try $0.rollback() }
        try program.close()
        #expect(try logSize(temporary) == 0)
        let again = try SQLiteStore.open(path: temporary.path)
        #expect(try again.readNow { try $0.daemonFact("late") } == "yes")
        try again.close()
    }
}
