import GRDB
import MerchantCore
import Schema
import Vocabulary

/// What SQLite's own check cannot find: rows that fit their tables and yet are not what the daemon wrote.
enum IntegrityCheck {
    /// More findings than these are not looked for.
    private static let mostNamed = 20
    private static let keyPairsPerPiece = 2000
    private static let recordsPerPiece = 20_000
    /// The actions after which a key pair is in the state that the record names.
    private static let actions: [AuditAction] = [
        .keyGenerated, .keyImported, .certificateStored, .keyPromoted, .keySuperseded, .keyRevoked, .keyRestored,
        .keyDestroyed,
    ]

    /// A piece of the look, short, so that the write-ahead log can be taken over between two.
    enum Look: Sendable {
        case keyPairs(after: Int)
        case records(after: Int)
        case schema

        fileprivate static let first = keyPairs(after: 0)

        /// What comes when nothing is left of this.
        fileprivate var following: Look? {
            switch self {
            case .keyPairs: .records(after: 0)
            case .records: .schema
            case .schema: nil
            }
        }

        fileprivate var name: String {
            switch self {
            case .keyPairs: "key pairs"
            case .records: "what the audit tells of"
            case .schema: "the schema"
            }
        }
    }

    typealias Piece = (found: [String], next: Look?)

    private static func piece(_ look: Look, in db: Database) throws -> Piece {
        switch look {
        case .keyPairs(let row): try strangeKeyPairs(in: db, after: row)
        case .records(let sequence): try missingRows(in: db, after: sequence)
        case .schema: (try strangeSchema(in: db), nil)
        }
    }

    /// A look that cannot be finished is a finding: whoever alters rows may take away what tells of it.
    private static func unfinished(_ look: Look, _ error: any Error) -> Piece {
        let why = (StoreFailure.translated(error) as? MerchantError)?.detail ?? "\(error)"
        return (["\(look.name) could not be looked through: \(why)"], look.following)
    }

    /// All of it, in one read.
    static func strange(in db: Database) -> [String] {
        var found: [String] = []
        var next: Look? = .first
        while let look = next {
            let piece: Piece
            do { piece = try Self.piece(look, in: db) } catch { piece = unfinished(look, error) }
            found += piece.found
            next = piece.next
        }
        return found
    }

    /// All of it, each piece in a read of its own. Of each kind some twenty are named.
    static func strange(in store: SQLiteStore) async throws -> [String] {
        var found: [String] = []
        var next: Look? = .first
        while let look = next {
            try Task.checkCancellation()
            let piece: Piece
            do { piece = try await store.readTables { try Self.piece(look, in: $0) } } catch {
                piece = unfinished(look, error)
            }
            found += piece.found.prefix(mostNamed)
            next = found.count < mostNamed ? piece.next : look.following
        }
        return found
    }

    /// Looks at some key pairs: whether each is in the state that the last audit record about it says, and stored with the
    /// public key of its hash.
    ///
    /// Whoever changes a state past the daemon would have to change the audit chain as well.
    private static func strangeKeyPairs(in db: Database, after row: Int) throws -> Piece {
        let names = actions.map { "'\($0.rawValue)'" }.joined(separator: ", ")
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT id, public_key_hash, state, subject_public_key_info, coalesce((
                    SELECT value_after FROM audit INDEXED BY audit_of_key_pair
                    WHERE audit.public_key_hash = key_pairs.public_key_hash AND action IN (\(names))
                    ORDER BY sequence DESC LIMIT 1), state) AS told
                FROM key_pairs WHERE id > ? ORDER BY id LIMIT \(keyPairsPerPiece)
                """, arguments: [row])
        var found: [String] = []
        var (last, count) = (row, 0)
        while let row = try rows.next() {
            (last, count) = (try row.integer("id"), count + 1)
            let hash = try row.publicKeyHash()
            let (state, told) = (try row.text("state"), try row.text("told"))
            if state != told {
                found.append(
                    "\(hash) is \(state) in the database, \(told) by its last audit record: the row was altered")
            }
            let held = PublicKeyHash(of: try row.bytes("subject_public_key_info"))
            if held != hash { found.append("\(hash) is stored with the public key of \(held): the row was altered") }
        }
        return (found, count < keyPairsPerPiece ? Look.keyPairs(after: 0).following : .keyPairs(after: last))
    }

    /// Looks at some audit records: whether the key pair or merchant that each tells was made is there. Neither ever goes.
    private static func missingRows(in db: Database, after sequence: Int) throws -> Piece {
        let end = sequence + recordsPerPiece
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
                "\(name) of \(try row.textIfAny("merchant_identifier") ?? "?") is not in the database, and was made by audit record \(try row.integer("sequence")): the row was removed"
        }
        let last = try Int.fetchOne(db, sql: "SELECT max(sequence) FROM audit") ?? 0
        return (found, end < last ? .records(after: end) : Look.records(after: 0).following)
    }

    /// Tables, indexes and triggers that are not as the migrations make them. What others add, such as a replicator its table, is
    /// theirs; but a trigger acts on ours.
    private static func strangeSchema(in db: Database) throws -> [String] {
        let expected = try DatabaseQueue().write { fresh in
            for migration in Schema.migrations { try fresh.execute(sql: migration.sql) }
            return try objects(of: fresh)
        }
        let found = try objects(of: db)
        return Set(expected.keys).union(found.keys).sorted().compactMap { name in
            switch (expected[name], found[name]) {
            case (nil, _):
                name.hasPrefix("trigger ") ? "the schema was altered: \(name) is none of this program's" : nil
            case (_, nil): "the schema was altered: \(name) is missing"
            case (let expected, let found): expected == found ? nil : "the schema was altered: \(name)"
            }
        }
    }

    private static func objects(of db: Database) throws -> [String: String] {
        // SQLite's own tables and automatic indexes have no text of their own.
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
    /// Key pairs in another state than the last audit record about them says, or with another public key; key pairs and merchants
    /// that the audit tells of and that are gone; what of the schema was altered.
    package func strangeContent() async throws -> [String] { try await IntegrityCheck.strange(in: self) }
}
