import Foundation
import GRDB
import MerchantCore
import SQLiteStore
import Testing
import Vocabulary

/// What an administrator's `mv` and `rm` do to a store that is in use.
@Suite("A database whose file is not in its place")
struct ReplacedFileTests {
    let temporary: TemporaryStore

    init() throws { temporary = try TemporaryStore() }

    /// Takes the file's name from it; a replacement is a database of ours too.
    private func takeAway(isReplaced: Bool) throws {
        if isReplaced {
            let other = try TemporaryStore()
            try other.store.close()
            try FileManager.default.moveItem(atPath: temporary.path, toPath: temporary.path + ".away")
            try FileManager.default.moveItem(atPath: other.path, toPath: temporary.path)
        } else {
            try FileManager.default.removeItem(atPath: temporary.path)
        }
    }

    private func requireStopped(_ refused: MerchantError?) {
        #expect(refused?.code == .storeUnavailable)
        let detail = refused?.detail ?? "none"
        #expect(detail.contains("was removed or replaced while in use: found "), "\(detail)")
        #expect(detail.contains("expected inode ") && detail.contains("stop the daemon, then put back"), "\(detail)")
        #expect(detail.contains("nothing is written until the daemon is restarted"), "\(detail)")
        guard case .failed = temporary.store.health else {
            Issue.record("changes are still taken")
            return
        }
    }

    @Test("no change is acknowledged any more, for good, and reads go on", arguments: [false, true])
    func changes(isReplaced: Bool) async throws {
        try await temporary.onboard(Sample.merchant(1), seed: 1)
        // Opens the connection that reads.
        #expect(try temporary.store.readNow { try $0.merchant(Sample.merchant(1)) } != nil)
        try takeAway(isReplaced: isReplaced)
        requireStopped(await refusal { try await temporary.onboard(Sample.merchant(2), seed: 2) })
        #expect(try temporary.store.readNow { try $0.merchant(Sample.merchant(1)) } != nil)
        guard isReplaced else { return }
        try FileManager.default.removeItem(atPath: temporary.path)
        try FileManager.default.moveItem(atPath: temporary.path + ".away", toPath: temporary.path)
        requireStopped(await refusal { try await temporary.onboard(Sample.merchant(3), seed: 3) })
    }

    @Test("a change during whose commit the file went is not acknowledged")
    func duringCommit() async throws {
        let path = temporary.path
        let refused = await refusal {
            try await temporary.store.write { transaction in
                try transaction.insert(Sample.record(Sample.merchant(1)))
                try FileManager.default.removeItem(atPath: path)
            }
        }
        requireStopped(refused)
    }

    @Test("a store that was read from is whole in its file once it is closed, also where its log was taken away")
    func closed() async throws {
        for isTaken in [false, true] {
            let temporary = try TemporaryStore()
            try await temporary.onboard(Sample.merchant(1), seed: 1)
            #expect(try temporary.store.readNow { try $0.merchant(Sample.merchant(1)) } != nil)
            if isTaken { try FileManager.default.removeItem(atPath: temporary.path + "-wal") }
            try temporary.store.close()
            #expect(!FileManager.default.fileExists(atPath: temporary.path + "-wal"))
            #expect(try beside(temporary.path) { try Int.fetchOne($0, sql: "SELECT count(*) FROM merchants") } == 1)
        }
    }

    @Test("the write-ahead log is not emptied: it may hold what the right file lacks", arguments: [false, true])
    func log(isReplaced: Bool) async throws {
        try await temporary.onboard(Sample.merchant(1), seed: 1)
        let log = try Data(contentsOf: URL(filePath: temporary.path + "-wal"))
        #expect(!log.isEmpty)
        try takeAway(isReplaced: isReplaced)
        requireStopped(await refusal { try await temporary.store.eraseRemovedBytes() })
        #expect(try Data(contentsOf: URL(filePath: temporary.path + "-wal")) == log)
    }
}
