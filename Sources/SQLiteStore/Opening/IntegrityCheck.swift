import GRDB
import MerchantCore
import Schema
import Vocabulary

/// Finds changes by other programs that SQLite's own check cannot find, because the changed rows satisfy the schema.
enum IntegrityCheck {
    /// After about this many findings, a stage ends.
    private static let mostNamed = 20
    private static let keyPairsPerBatch = 2000
    private static let recordsPerBatch = 20_000
    /// The audit actions whose records name the new state of the key pair in `value_after`.
    private static let actions: [AuditAction] = [
        .keyGenerated, .keyImported, .certificateStored, .keyPromoted, .keySuperseded, .keyRevoked, .keyRestored,
        .keyDestroyed,
    ]

    /// What the next batch checks. The check runs in bounded batches, so that the write-ahead log can be checkpointed
    /// between two of them.
    enum Stage: Sendable {
        /// Key pairs with a higher row id.
        case keyPairs(after: Int)
        /// Audit records with a higher sequence.
        case records(after: Int)
        case schema

        fileprivate static let first = keyPairs(after: 0)

        /// The beginning of the stage after this one; nil after the last.
        fileprivate var following: Stage? {
            switch self {
            case .keyPairs: .records(after: 0)
            case .records: .schema
            case .schema: nil
            }
        }

        fileprivate var name: String {
            switch self {
            case .keyPairs: "key pairs"
            case .records: "the rows that the audit names"
            case .schema: "the schema"
            }
        }
    }

    typealias Batch = (found: [String], next: Stage?)

    private static func batch(_ stage: Stage, in db: Database) throws -> Batch {
        switch stage {
        case .keyPairs(let row): try inconsistentKeyPairs(in: db, after: row)
        case .records(let sequence): try missingRows(in: db, after: sequence)
        case .schema: (try alteredSchema(in: db), nil)
        }
    }

    /// Turns the error of a batch into a finding, because an altered row can make a query fail.
    private static func unfinished(_ stage: Stage, _ error: any Error) -> Batch {
        let why = (SQLiteErrors.translated(error) as? MerchantError)?.detail ?? "\(error)"
        return (["\(stage.name) could not be checked: \(why)"], stage.following)
    }

    /// Checks everything in one read transaction.
    static func findings(in db: Database) -> [String] {
        var found: [String] = []
        var next: Stage? = .first
        while let stage = next {
            let batch: Batch
            do { batch = try Self.batch(stage, in: db) } catch { batch = unfinished(stage, error) }
            found += batch.found
            next = batch.next
        }
        return found
    }

    /// Checks everything, each batch in a read transaction of its own. Returns about ``mostNamed`` findings of each
    /// stage at most.
    static func findings(in store: SQLiteStore) async throws -> [String] {
        var found: [String] = []
        var next: Stage? = .first
        while let stage = next {
            try Task.checkCancellation()
            let batch: Batch
            do { batch = try await store.readTables { try Self.batch(stage, in: $0) } } catch {
                batch = unfinished(stage, error)
            }
            found += batch.found.prefix(mostNamed)
            next = found.count < mostNamed ? batch.next : stage.following
        }
        return found
    }

    /// Checks one batch of key pairs. Each must be in the state that its last audit record names, and its public key
    /// must have its publicKeyHash.
    ///
    /// An attacker who changes a state would have to change the audit, too, which breaks its hash chain.
    private static func inconsistentKeyPairs(in db: Database, after row: Int) throws -> Batch {
        let names = actions.map { "'\($0.rawValue)'" }.joined(separator: ", ")
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT id, public_key_hash, state, subject_public_key_info, coalesce((
                    SELECT value_after FROM audit INDEXED BY audit_of_key_pair
                    WHERE audit.public_key_hash = key_pairs.public_key_hash AND action IN (\(names))
                    ORDER BY sequence DESC LIMIT 1), state) AS recorded
                FROM key_pairs WHERE id > ? ORDER BY id LIMIT \(keyPairsPerBatch)
                """, arguments: [row])
        var found: [String] = []
        var (last, count) = (row, 0)
        while let row = try rows.next() {
            (last, count) = (try row.integer("id"), count + 1)
            let hash = try row.publicKeyHash()
            let (state, recorded) = (try row.text("state"), try row.text("recorded"))
            if state != recorded {
                found.append(
                    "\(hash) is \(state) in the database, \(recorded) by its last audit record: the row was altered")
            }
            let actual = PublicKeyHash(of: try row.bytes("subject_public_key_info"))
            if actual != hash {
                found.append("\(hash) is stored with the public key of \(actual): the row was altered")
            }
        }
        return (found, count < keyPairsPerBatch ? Stage.keyPairs(after: 0).following : .keyPairs(after: last))
    }

    /// Checks one batch of audit records. If a record says that a key pair or merchant was created, its row must exist,
    /// because the daemon never deletes one.
    private static func missingRows(in db: Database, after sequence: Int) throws -> Batch {
        let end = sequence + recordsPerBatch
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT sequence, public_key_hash, merchant_identifier FROM audit
                WHERE sequence > ? AND sequence <= ? AND (
                    action IN ('keyGenerated', 'keyImported') AND NOT EXISTS (
                        SELECT 1 FROM key_pairs WHERE key_pairs.public_key_hash = audit.public_key_hash)
                    OR action = 'merchantAdded' AND NOT EXISTS (
                        SELECT 1 FROM merchants WHERE merchants.identifier = audit.merchant_identifier))
                LIMIT \(mostNamed)
                """, arguments: [sequence, end])
        let found = try rows.map { row in
            let name = (try? row.publicKeyHashIfAny()).flatMap { $0?.description } ?? "its merchant"
            return
                "\(name) of \(try row.textIfAny("merchant_identifier") ?? "?") is not in the database, although audit record \(try row.integer("sequence")) created it: the row was removed"
        }
        let last = try Int.fetchOne(db, sql: "SELECT max(sequence) FROM audit") ?? 0
        return (found, end < last ? .records(after: end) : Stage.records(after: 0).following)
    }

    /// Compares tables, indexes and triggers with those that the migrations create. Accepts additional tables and
    /// indexes, because another program such as a replication tool may need them. Reports additional triggers, because
    /// they can change the daemon's tables.
    private static func alteredSchema(in db: Database) throws -> [String] {
        let expected = try DatabaseQueue().write { fresh in
            for migration in Schema.migrations { try fresh.execute(sql: migration.sql) }
            return try objects(of: fresh)
        }
        let found = try objects(of: db)
        return Set(expected.keys).union(found.keys).sorted().compactMap { name in
            switch (expected[name], found[name]) {
            case (nil, _):
                name.hasPrefix("trigger ") ? "the schema was altered: \(name) does not belong to this program" : nil
            case (_, nil): "the schema was altered: \(name) is missing"
            case (let expected, let found): expected == found ? nil : "the schema was altered: \(name)"
            }
        }
    }

    private static func objects(of db: Database) throws -> [String: String] {
        // Omits automatic indexes, which have no SQL text, and SQLite's own tables, which the migrations do not create.
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
    /// Finds key pairs whose state differs from their last audit record, or whose public key does not have their hash.
    /// Also finds key pairs and merchants that the audit names but that are missing, and altered parts of the schema.
    package func inconsistentContent() async throws -> [String] { try await IntegrityCheck.findings(in: self) }
}
