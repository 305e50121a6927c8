import Foundation
import GRDB
import MerchantCore
import MerchantTestSupport
import SQLiteStore
import Testing
import Vocabulary

/// Changes of the audit by an attacker who can write the database file and drops its triggers.
@Suite struct AuditTamperingTests {
    static let recordCount = 120
    let temporary: TemporaryStore

    init() throws { temporary = try TemporaryStore() }

    private func fill() async throws {
        var random = SeededGenerator(seed: 4711)
        for number in 0..<Self.recordCount {
            let action = AuditAction.allCases.randomElement(using: &random) ?? .keyRevoked
            try await temporary.store.write {
                try $0.append(
                    Sample.entry(action, merchant: Sample.merchant(number % 7), key: Sample.hash(number % 11)))
            }
        }
    }

    /// The breaks of the whole chain, read as the daemon reads it.
    private func breaks() throws -> [AuditBreak] {
        var examination = AuditExamination()
        try temporary.store.readNow { reading in
            var links: [AuditLink]
            repeat {
                let segment = try reading.auditSegment(from: examination.next, limit: 50)
                links = segment.links
                for link in links { examination.examine(link) }
                if links.isEmpty { examination.finish(highestAssigned: segment.highestAssigned) }
            } while !links.isEmpty
        }
        examination.markReorderedRecords()
        return examination.breaks
    }

    /// Runs statements, then the check, then restores the audit.
    private func tampering(_ statements: [String], _ check: () throws -> Void) throws {
        try temporary.withSeparateConnection { db in
            try db.execute(sql: "CREATE TABLE IF NOT EXISTS kept AS SELECT * FROM audit")
            let highestSequence = try Int.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'audit'") ?? 0
            for statement in statements { try db.execute(sql: statement) }
            try check()
            try db.execute(
                sql: """
                    DELETE FROM audit; INSERT INTO audit SELECT * FROM kept;
                    UPDATE sqlite_sequence SET seq = \(highestSequence) WHERE name = 'audit'
                    """)
        }
    }

    private func dropTriggers() throws {
        try temporary.withSeparateConnection {
            try $0.execute(
                sql: """
                    DROP TRIGGER audit_is_a_chain; DROP TRIGGER audit_is_never_changed;
                    DROP TRIGGER audit_is_never_shortened
                    """)
        }
    }

    @Test func `an audit that was not changed has no breaks`() async throws {
        try await fill()
        #expect(try breaks() == [])
    }

    @Test func `an edited, removed or reordered record, and a truncation, are found at the first changed sequence`()
        async throws
    {
        try await fill()
        try dropTriggers()
        var random = SeededGenerator(seed: 1)
        let columns = [
            "action = 'keyRestored' WHERE action <> 'keyRestored' AND", "caller = caller || '1' WHERE",
            "caller_gid = caller_gid + 1 WHERE", "caller_pid = caller_pid + 1 WHERE",
            "caller_program = caller_program || 'x' WHERE", "at = at + 1 WHERE", "merchant_identifier = NULL WHERE",
            "public_key_hash = zeroblob(32) WHERE", "value_before = NULL WHERE", "value_after = '' WHERE",
            "reason = upper(reason) WHERE", "request_id = 'r2' WHERE", "node = 'host1' WHERE",
            "previous_hash = zeroblob(32) WHERE",
            "hash = zeroblob(32) WHERE", "action = 'dance' WHERE",
        ]
        var kinds: [AuditBreak.Kind: Int] = [:]
        for round in 0..<1000 {
            // Not the first record: its previous hash is zeros already, so one of the edits would not change it.
            let place = Int.random(in: 2..<Self.recordCount, using: &random)
            let other = (2..<Self.recordCount).filter { $0 != place }.randomElement(using: &random) ?? 2
            let (kind, statements, first): (AuditBreak.Kind, [String], Int) =
                switch round % 4 {
                case 0: (.edited, ["UPDATE audit SET \(columns[round / 4 % columns.count]) sequence = \(place)"], place)
                case 1: (.removed, ["DELETE FROM audit WHERE sequence = \(place)"], place)
                case 2: (.cutOff, ["DELETE FROM audit WHERE sequence > \(place)"], place + 1)
                default:
                    (
                        .reordered,
                        [
                            "UPDATE audit SET sequence = -1 WHERE sequence = \(place)",
                            "UPDATE audit SET sequence = \(place) WHERE sequence = \(other)",
                            "UPDATE audit SET sequence = \(other) WHERE sequence = -1",
                        ].map { "PRAGMA ignore_check_constraints = ON; \($0)" }, min(place, other)
                    )
                }
            if statements[0].contains("action <> "), round % 4 == 0 {
                let action = try temporary.store.readNow {
                    try $0.auditSegment(from: place, limit: 1).links.first
                }
                if case .record(let record)? = action, record.entry.action == .keyRestored { continue }
            }
            try tampering(statements) {
                let found = try breaks()
                #expect(found.first?.kind == kind && found.first?.sequence == first, "\(statements): \(found)")
                kinds[kind, default: 0] += 1
            }
        }
        #expect(kinds.values.reduce(0, +) > 990 && kinds.count == 4)
        #expect(try breaks() == [])
    }

    @Test func `a replaced record with a matching hash breaks the chain at the next record`() async throws {
        try await fill()
        try dropTriggers()
        let link = try temporary.store.readNow { try $0.auditSegment(from: 50, limit: 1).links.first }
        guard case .record(let record)? = link else {
            Issue.record("record 50 is missing")
            return
        }
        let forged = AuditRecord(Sample.entry(.merchantRemoved), sequence: 50, after: record.previousHash)
        let digits = forged.hash.map { String(format: "%02x", $0) }.joined()
        try tampering([
            """
            UPDATE audit SET (action, merchant_identifier, public_key_hash, hash) = ('merchantRemoved', NULL, NULL, x'\(digits)')
            WHERE sequence = 50
            """
        ]) { () throws in
            #expect(try breaks().map(\.sequence) == [51])
        }
    }

    @Test func `a copy of the audit head reveals a truncation that also resets the counter, and a rewritten chain`()
        async throws
    {
        try await fill()
        try dropTriggers()
        let kept = try #require(try temporary.store.readNow { try $0.auditHead() })
        #expect(AuditHead(kept.description) == kept)
        func difference() throws -> AuditBreak? {
            try temporary.store.readNow {
                AuditBreak.comparing(kept, with: try $0.auditSegment(from: kept.sequence, limit: 1).links.first)
            }
        }
        #expect(try difference() == nil)
        let cut = [
            "DELETE FROM audit WHERE sequence > 100", "UPDATE sqlite_sequence SET seq = 100 WHERE name = 'audit'",
        ]
        try tampering(cut) { () throws in
            #expect(try breaks() == [])
            #expect(try difference()?.kind == .cutOff)
        }
        try temporary.withSeparateConnection { db in for statement in cut { try db.execute(sql: statement) } }
        for _ in 100..<Self.recordCount { try await temporary.store.write { try $0.append(Sample.entry(.keyRevoked)) } }
        #expect(try breaks() == [])
        #expect(try difference()?.kind == .rewritten)
    }

    @Test func `records are listed by caller and time, in ascending and descending order`() async throws {
        for number in 0..<30 {
            let caller = Caller(uid: UInt32(number % 3), gid: 1, pid: 1, program: "p")
            let at = Sample.time.adding(.seconds(number))
            try await temporary.store.write { try $0.append(AuditEntry(.keyRevoked, by: caller, at: at)) }
        }
        func sequences(_ filter: AuditFilter, from: Int? = nil, oldestFirst: Bool = false, _ limit: Int) throws -> [Int]
        {
            try temporary.store.readNow {
                try $0.auditRecords(filter, from: from, oldestFirst: oldestFirst, limit: limit).map(\.sequence)
            }
        }
        #expect(try sequences(AuditFilter(caller: "uid:1"), 3) == [29, 26, 23])
        #expect(try sequences(AuditFilter(caller: "uid:1"), from: 23, 3) == [20, 17, 14])
        let times = AuditFilter(
            since: Sample.time.adding(.seconds(10)), until: Sample.time.adding(.seconds(13)))
        #expect(try sequences(times, 9) == [13, 12, 11])
        #expect(try sequences(times, oldestFirst: true, 2) == [11, 12])
        #expect(try sequences(times, from: 12, oldestFirst: true, 2) == [13])
        #expect(try sequences(AuditFilter(), from: 28, oldestFirst: true, 9) == [29, 30])
    }
}
