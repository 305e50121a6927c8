import GRDB
import MerchantCore
import Schema
import StoreCore
import Vocabulary

/// Finds rows and schema objects that another program has changed. SQLite's own checks do not find such changes,
/// because the changed rows satisfy the schema.
enum IntegrityCheck {
    /// Limits the findings of a check of a store that is in use. After about this many findings in all, the present
    /// stage ends, and each later stage checks only its first batch.
    private static let maximumFindings = 20
    private static let keyPairsPerBatch = 2000
    static let recordsPerBatch = 20_000
    /// The audit actions whose records name the new state of the key pair in `value_after`.
    private static let stateChanges: [AuditAction] = [
        .keyGenerated, .keyImported, .certificateStored, .keyPromoted, .keySuperseded, .keyRevoked, .keyRestored,
        .keyDestroyed,
    ]

    /// What the next batch checks. The check runs in stages, and each stage in batches of limited size, so that the
    /// write-ahead log can be checkpointed between two batches.
    enum Stage: Sendable {
        /// The audit records that name the content of an access. This batch only reads them.
        case auditedAccesses(AuditedAccesses)
        /// The accesses whose row id is above `after`.
        case accesses(after: Int, AuditedAccesses)
        /// The key pairs whose row id is above `after`.
        case keyPairs(after: Int)
        /// The audit records whose sequence is above `after`.
        case records(after: Int)
        /// The tables, indexes and triggers.
        case schema

        fileprivate static let first = auditedAccesses(AuditedAccesses())

        /// The beginning of the next stage; nil after the last stage.
        var following: Stage? {
            switch self {
            case .auditedAccesses, .accesses: .keyPairs(after: 0)
            case .keyPairs: .records(after: 0)
            case .records: .schema
            case .schema: nil
            }
        }

        fileprivate var name: String {
            switch self {
            case .auditedAccesses, .accesses: "accesses"
            case .keyPairs: "key pairs"
            case .records: "the rows that the audit names"
            case .schema: "the schema"
            }
        }
    }

    /// The findings of one batch, and what the next batch checks. `next` is nil after the last batch.
    typealias Batch = (found: [String], next: Stage?)

    private static func check(_ stage: Stage, in db: Database) throws -> Batch {
        switch stage {
        case .auditedAccesses(let records): try readAuditedAccesses(after: records, in: db)
        case .accesses(let row, let records): try inconsistentAccesses(in: db, after: row, records)
        case .keyPairs(let row): try inconsistentKeyPairs(in: db, after: row)
        case .records(let sequence): try missingRows(in: db, after: sequence)
        case .schema: (try alteredSchema(in: db), nil)
        }
    }

    /// Turns the error of a batch into a finding, because an altered row can make a query fail. Continues with the next
    /// stage.
    private static func failedBatch(_ stage: Stage, _ error: any Error) -> Batch {
        let why = (SQLiteErrors.translated(error) as? MerchantError)?.detail ?? "\(error)"
        return (["\(stage.name) could not be checked: \(why)"], stage.following)
    }

    /// Runs all stages in one read transaction.
    static func findings(in db: Database) -> [String] {
        var found: [String] = []
        var next: Stage? = .first
        while let stage = next {
            let batch: Batch
            do { batch = try check(stage, in: db) } catch { batch = failedBatch(stage, error) }
            found += batch.found
            next = batch.next
        }
        return found
    }

    /// Runs all stages, each batch in a read transaction of its own. Ends a stage after the present batch if there are
    /// already ``maximumFindings`` findings.
    static func findings(in store: SQLiteStore) async throws -> [String] {
        var found: [String] = []
        var next: Stage? = .first
        while let stage = next {
            try Task.checkCancellation()
            let batch: Batch
            do { batch = try await store.readTables { try check(stage, in: $0) } } catch {
                batch = failedBatch(stage, error)
            }
            found += batch.found.prefix(maximumFindings)
            next = found.count < maximumFindings ? batch.next : stage.following
        }
        return found
    }

    /// Checks one batch of key pairs. Each key pair must be in the state that is named in the last audit record about a
    /// change of its state. Without such a record, any state is accepted. The hash of each public key must be the
    /// publicKeyHash of its row.
    ///
    /// An attacker who changes a state must also change the audit, which breaks the audit's hash chain.
    private static func inconsistentKeyPairs(in db: Database, after previous: Int) throws -> Batch {
        let names = stateChanges.map { "'\($0.rawValue)'" }.joined(separator: ", ")
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT id, public_key_hash, state, subject_public_key_info, coalesce((
                    SELECT value_after FROM audit INDEXED BY audit_of_key_pair
                    WHERE audit.public_key_hash = key_pairs.public_key_hash AND action IN (\(names))
                    ORDER BY sequence DESC LIMIT 1), state) AS recorded
                FROM key_pairs WHERE id > ? ORDER BY id LIMIT \(keyPairsPerBatch)
                """, arguments: [previous])
        var found: [String] = []
        var (last, count) = (previous, 0)
        while let row = try rows.next() {
            (last, count) = (try row.integer("id"), count + 1)
            let hash = try row.publicKeyHash()
            let (state, recorded) = (try row.text("state"), try row.text("recorded"))
            if state != recorded {
                found.append(
                    "key pair \(hash) is \(state) in the database, but \(recorded) according to its last audit record: the row was altered"
                )
            }
            let actual = PublicKeyHash(of: try row.bytes("subject_public_key_info"))
            if actual != hash {
                found.append("key pair \(hash) is stored with the public key of \(actual): the row was altered")
            }
        }
        return (found, count < keyPairsPerBatch ? Stage.keyPairs(after: 0).following : .keyPairs(after: last))
    }

    /// Checks one batch of audit records. If a record says that a key pair, merchant, access or notification URL was
    /// created, the created row must exist, because the daemon never deletes such a row. The record of a notification
    /// URL names only its merchant, because the URL is secret. So the merchant must have at least one URL.
    private static func missingRows(in db: Database, after sequence: Int) throws -> Batch {
        let end = sequence + recordsPerBatch
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT sequence, action, public_key_hash, merchant_identifier, value_after FROM audit
                WHERE sequence > ? AND sequence <= ? AND (
                    action IN ('keyGenerated', 'keyImported') AND NOT EXISTS (
                        SELECT 1 FROM key_pairs WHERE key_pairs.public_key_hash = audit.public_key_hash)
                    OR action = 'merchantAdded' AND NOT EXISTS (
                        SELECT 1 FROM merchants WHERE merchants.identifier = audit.merchant_identifier)
                    OR action = 'tokenNotificationPathCreated' AND NOT EXISTS (
                        SELECT 1 FROM token_notification_paths
                        WHERE token_notification_paths.merchant_identifier = audit.merchant_identifier)
                    OR action = 'accessCreated' AND NOT EXISTS (
                        SELECT 1 FROM accesses
                        WHERE accesses.name = substr(value_after, 8, instr(value_after, ' ') - 8)))
                LIMIT \(maximumFindings)
                """, arguments: [sequence, end])
        let found = try rows.map { row in
            "\(try createdRow(row)) is not in the database, although audit record \(try row.integer("sequence")) reports its creation: the row was removed"
        }
        let last = try Int.fetchOne(db, sql: "SELECT max(sequence) FROM audit") ?? 0
        return (found, end < last ? .records(after: end) : Stage.records(after: 0).following)
    }

    /// The name of the row whose creation an audit record reports.
    private static func createdRow(_ row: Row) throws -> String {
        if try row.text("action") == AuditAction.accessCreated.rawValue {
            let access = try row.textIfAny("value_after").flatMap { AuditedAccess(auditText: $0) }
            return "access \(access?.name.rawValue ?? "?")"
        }
        if try row.text("action") == AuditAction.tokenNotificationPathCreated.rawValue {
            return "the notification URL of merchant \(try row.textIfAny("merchant_identifier") ?? "?")"
        }
        let hash = try? row.publicKeyHashIfAny()
        let keyPair = hash.map { "key pair \($0) of " } ?? ""
        return "\(keyPair)merchant \(try row.textIfAny("merchant_identifier") ?? "?")"
    }

    /// Compares tables, indexes and triggers with those that the migrations create. Accepts additional tables and
    /// indexes, because another program such as a replication tool may need them. Reports additional triggers, because
    /// a trigger can change the daemon's tables.
    private static func alteredSchema(in db: Database) throws -> [String] {
        // Runs the migrations on an empty database in memory.
        let expected = try DatabaseQueue().write { empty in
            for migration in Schema.migrations { try empty.execute(sql: migration.sql) }
            return try schemaObjects(of: empty)
        }
        let found = try schemaObjects(of: db)
        return Set(expected.keys).union(found.keys).sorted().compactMap { name in
            switch (expected[name], found[name]) {
            case (nil, _):
                name.hasPrefix("trigger ") ? "the schema was altered: \(name) does not belong to this program" : nil
            case (_, nil): "the schema was altered: \(name) is missing"
            case (let expected, let found):
                expected == found ? nil : "the schema was altered: \(name) differs from this program's"
            }
        }
    }

    /// The SQL text of each table, index and trigger, by type and name, such as `table merchants`.
    private static func schemaObjects(of db: Database) throws -> [String: String] {
        // Omits automatic indexes, which have no SQL text, and SQLite's own tables, which no migration creates.
        let rows = try Row.fetchAll(
            db,
            sql:
                "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
        )
        return try Dictionary(
            rows.map { ("\(try $0.text("type")) \(try $0.text("name"))", try $0.text("sql")) },
            uniquingKeysWith: { first, _ in first })
    }
}

extension SQLiteStore {
    /// Finds key pairs whose state differs from their last audit record, or whose public key has another hash, and
    /// accesses that differ from their last audit record or have none. Also finds missing key pairs, merchants,
    /// accesses and notification URLs that the audit names, and altered parts of the schema.
    ///
    /// - Returns: one sentence for each finding; empty if there are none.
    package func inconsistentContent() async throws -> [String] { try await IntegrityCheck.findings(in: self) }
}
