import Foundation
import GRDB
import MerchantCore
import SQLiteStore
import Testing
import Vocabulary

@Suite struct AuditTests {
    /// Each test has its own instance of the suite, and so its own store.
    let temporary: TemporaryStore

    init() throws { temporary = try TemporaryStore() }

    private func records(_ store: SQLiteStore) throws -> [AuditRecord] {
        try store.readNow { try $0.auditRecords(merchant: nil, key: nil, before: nil, limit: 1000) }.reversed()
    }

    @Test func `records are numbered without gaps, and each contains the hash of the record before it`() async throws {
        for action in AuditAction.allCases {
            try await temporary.store.write { transaction throws in
                try transaction.append(Sample.entry(action, merchant: Sample.merchant, key: Sample.hash(1)))
                try transaction.append(Sample.entry(action))
            }
        }
        let records = try records(temporary.store)
        #expect(records.map(\.sequence) == Array(1...2 * AuditAction.allCases.count))
        #expect(records.filter { !$0.isIntact } == [])
        #expect(records.first?.previousHash == AuditRecord.genesis)
        for (before, record) in zip(records, records.dropFirst()) { #expect(record.previousHash == before.hash) }
        #expect(records.first?.entry == Sample.entry(.daemonStarted, merchant: Sample.merchant, key: Sample.hash(1)))
        try temporary.store.readNow { reader throws in
            #expect(try reader.counts(at: Sample.time).auditRecords == records.count)
            let pages = try [nil, 20, 1].map {
                try reader.auditRecords(merchant: nil, key: nil, before: $0, limit: 3).map(\.sequence)
            }
            #expect(pages == [[records.count, records.count - 1, records.count - 2], [19, 18, 17], []])
            for (merchant, key) in [(Sample.merchant, nil), (nil, Sample.hash(1)), (Sample.merchant, Sample.hash(1))] {
                let found = try reader.auditRecords(merchant: merchant, key: key, before: nil, limit: 1000)
                #expect(found.count == AuditAction.allCases.count)
            }
            #expect(try reader.auditRecords(merchant: Sample.merchant(2), key: nil, before: nil, limit: 9) == [])
        }
    }

    @Test func `a record that another program edited is not intact`() async throws {
        for _ in 0..<5 { try await temporary.store.write { try $0.append(Sample.entry(.keyRevoked)) } }
        try temporary.withSeparateConnection {
            try $0.execute(sql: "DROP TRIGGER audit_is_never_changed; UPDATE audit SET reason = 'x' WHERE sequence = 3")
        }
        #expect(try records(temporary.store).filter { !$0.isIntact }.map(\.sequence) == [3])
    }

    @Test func `records that were removed from the end leave a gap, and later records are appended after it`()
        async throws
    {
        for _ in 0..<5 { try await temporary.store.write { try $0.append(Sample.entry(.keyRevoked)) } }
        try temporary.withSeparateConnection {
            try $0.execute(sql: "DROP TRIGGER audit_is_never_shortened; DELETE FROM audit WHERE sequence > 3")
        }
        try await temporary.store.write { try $0.append(Sample.entry(.keyRestored)) }
        #expect(try records(temporary.store).map(\.sequence) == [1, 2, 3, 6])
    }

    @Test func `an unknown value in a record is an error, not a crash`() async throws {
        try await temporary.store.write { try $0.append(Sample.entry(.keyRevoked)) }
        try temporary.withSeparateConnection {
            try $0.execute(sql: "DROP TRIGGER audit_is_never_changed; UPDATE audit SET action = 'dance'")
        }
        #expect(throws: MerchantError.self) { try records(temporary.store) }
    }
}
