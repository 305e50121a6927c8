import GRDB
import MerchantCore
import StoreCore
import Vocabulary

/// Each access must have the content that its last audit record names.
///
/// No index finds the last record of an access, so the audit is read once, and the contents are kept in memory.
extension IntegrityCheck {
    private static let accessesPerBatch = 500

    /// The content of each access, as named in the audit records that were read so far.
    struct AuditedAccesses: Sendable {
        fileprivate var digests: [AccessName: Bits256] = [:]
        /// The sequence of the last record that was read.
        fileprivate var sequence = 0

        init() {}
    }

    /// Reads one batch of audit records.
    static func readAuditedAccesses(after records: AuditedAccesses, in db: Database) throws -> Batch {
        let hasAccesses = try Int.fetchOne(db, sql: "SELECT 1 FROM accesses LIMIT 1") != nil
        guard hasAccesses else { return ([], Stage.auditedAccesses(records).following) }
        let last = try lastSequence(in: db)
        var records = records
        try records.read(to: min(last, records.sequence + recordsPerBatch), in: db)
        let next: Stage = records.sequence < last ? .auditedAccesses(records) : .accesses(after: 0, records)
        return ([], next)
    }

    /// Checks one batch of accesses.
    static func inconsistentAccesses(
        in db: Database, after previous: Int, _ records: AuditedAccesses
    ) throws -> Batch {
        // Reads the audit records that were added since the last batch, because they may describe changes of accesses.
        var records = records
        try records.read(to: try lastSequence(in: db), in: db)
        let reader = StoreReader(db: db)
        let rows = try Row.fetchAll(
            db, sql: "SELECT \(AccessRow.columns) FROM accesses WHERE id > ? ORDER BY id LIMIT \(accessesPerBatch)",
            arguments: [previous])
        var found: [String] = []
        var last = previous
        for row in rows {
            last = try row.integer("id")
            let access = try AccessRow.access(row, reader.secrets(ofAccessRow: Int64(last)))
            guard let recorded = records.digests[access.name] else {
                found.append("access \(access.name) has no audit record: the row was inserted by another program")
                continue
            }
            if recorded != AuditedAccess(access).digest {
                found.append(
                    "access \(access.name) or one of its tokens differs from its last audit record: a row was altered")
            }
        }
        let stage = Stage.accesses(after: last, records)
        return (found, rows.count == accessesPerBatch ? stage : stage.following)
    }

    private static func lastSequence(in db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "SELECT max(sequence) FROM audit") ?? 0
    }
}

extension IntegrityCheck.AuditedAccesses {
    private static let actions = AuditedAccess.actions.map { "'\($0.rawValue)'" }.joined(separator: ", ")

    /// Reads the records up to `end` that were not read yet. Ignores a record without the content of an access.
    fileprivate mutating func read(to end: Int, in db: Database) throws {
        let texts = try String.fetchAll(
            db,
            sql: """
                SELECT value_after FROM audit
                WHERE sequence > ? AND sequence <= ? AND action IN (\(Self.actions)) AND value_after IS NOT NULL
                ORDER BY sequence
                """, arguments: [sequence, end])
        for text in texts {
            guard let access = AuditedAccess(auditText: text) else { continue }
            digests[access.name] = access.digest
        }
        sequence = end
    }
}
