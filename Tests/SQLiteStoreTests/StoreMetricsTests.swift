import MerchantCore
import MerchantTestSupport
import MetricsKit
import SQLiteStore
import Testing
import Vocabulary

/// The metrics of the databases.
@Suite struct StoreMetricsTests {
    private func page(_ store: SQLiteStore, _ claims: ClaimStore?) throws -> PrometheusPage {
        var text = MetricsText()
        StoreMetrics(store) { claims }.append(to: &text)
        return try PrometheusPage(text.text)
    }

    @Test func `commits are counted for each database, with their writes and their duration`() async throws {
        let (merchants, claims) = (try TemporaryStore(), try TemporaryClaims())
        let before = try page(merchants.store, claims.store)
        try await merchants.onboard()
        for payment in 1...3 { _ = try await claims.store.claim(.sample(payment)) }
        let after = try page(merchants.store, claims.store)
        func increase(_ name: String, _ database: String) -> Double? {
            guard let new = after[name, ["database": database]], let old = before[name, ["database": database]] else {
                return nil
            }
            return new - old
        }
        #expect(increase("merchantkeyd_store_writes_total", "merchants") == 1)
        #expect(increase("merchantkeyd_store_writes_total", "claims") == 3)
        #expect(increase("merchantkeyd_store_commit_duration_seconds_count", "merchants") == 1)
        #expect(increase("merchantkeyd_store_commit_duration_seconds_sum", "claims") ?? 0 > 0)
        #expect(increase("merchantkeyd_store_commit_failures_total", "claims") == 0)
        #expect(after["merchantkeyd_store_queue_length", ["database": "merchants"]] == 0)
        #expect(after["merchantkeyd_store_wal_bytes", ["database": "merchants"]] ?? 0 > 0)
    }

    @Test func `an audit record is counted when its transaction is committed, and not before`() async throws {
        let temporary = try TemporaryStore()
        let caller = Caller(uid: 0, gid: 0, pid: 1, program: "test")
        func entry(_ action: AuditAction) -> AuditEntry {
            AuditEntry(action, by: caller, at: Timestamp(millisecondsSince1970: 0))
        }
        let (started, failed) = (entry(.rollStarted), entry(.rollFinished))
        try await temporary.store.write { transaction -> Void in
            try transaction.append(started)
            try transaction.append(started)
        }
        _ = await refusal {
            try await temporary.store.write { transaction -> Void in
                try transaction.append(failed)
                throw MerchantError(.malformed, "undone")
            }
        }
        let page = try self.page(temporary.store, nil)
        #expect(page["merchantkeyd_audited_actions_total", ["action": "rollStarted"]] == 2)
        #expect(page["merchantkeyd_audited_actions_total", ["action": "rollFinished"]] == 0)
    }

    @Test func `a complete checkpoint is counted when SQLite overwrites the log`() async throws {
        let temporary = try TemporaryStore()
        try await temporary.onboard()
        let before = try #require(
            try page(temporary.store, nil)["merchantkeyd_store_checkpoints_total", ["database": "merchants"]])
        try await temporary.store.eraseCopiesOfDestroyedSecrets()
        try await temporary.onboard(seed: 2)
        let after = try #require(
            try page(temporary.store, nil)["merchantkeyd_store_checkpoints_total", ["database": "merchants"]])
        #expect(after > before)
    }
}
