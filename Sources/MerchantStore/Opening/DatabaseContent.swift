import GRDB
import MerchantCore
import Schema
import Vocabulary

/// What SQLite's own check cannot find: rows that fit their tables and yet are not what the daemon wrote.
enum DatabaseContent {
    /// More findings than these are not looked for.
    static let mostNamed = 20
    /// The deeds after which a key pair is in the state that the record names.
    private static let deeds: [AuditEntry.Deed] = [
        .keyGenerated, .keyImported, .certificateStored, .keyPromoted, .keySuperseded, .keyRevoked, .keyRestored,
        .keyDestroyed,
    ]

    /// Looks at some key pairs: whether each is in the state that the last audit record about it says, and stored with the
    /// public key of its hash.
    ///
    /// Whoever changes a state past the daemon would have to change the audit chain as well.
    ///
    /// - Returns: what was found, and the row to go on after; nil at the end.
    static func strangeKeyPairs(
        in db: Database, after row: Int, limit: Int
    ) throws -> (found: [String], last: Int?) {
        let names = deeds.map { "'\($0.rawValue)'" }.joined(separator: ", ")
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT id, public_key_hash, state, subject_public_key_info, coalesce((
                    SELECT value_after FROM audit INDEXED BY audit_of_key_pair
                    WHERE audit.public_key_hash = key_pairs.public_key_hash AND deed IN (\(names))
                    ORDER BY sequence DESC LIMIT 1), state) AS told
                FROM key_pairs WHERE id > ? ORDER BY id LIMIT ?
                """, arguments: [row, limit])
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
        return (found, count < limit ? nil : last)
    }

    /// Tables, indexes and triggers that are not as the migrations make them.
    static func strangeSchema(in db: Database) throws -> [String] {
        let expected = try DatabaseQueue().write { fresh in
            for migration in Schema.migrations { try fresh.execute(sql: migration.sql) }
            return try objects(of: fresh)
        }
        let found = try objects(of: db)
        return Set(expected.keys).union(found.keys).sorted().compactMap { name in
            switch (expected[name], found[name]) {
            case (nil, _): "the schema was altered: \(name) is none of this program's"
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

extension MerchantStore {
    /// One read of the store: short, so that the write-ahead log can be taken over between two.
    private static let keyPairsPerRead = 2000

    /// Key pairs in another state than the last audit record about them says, or with another public key, and what of the schema
    /// was altered. The first twenty and a few.
    package func strangeContent() async throws -> [String] {
        try await StoreFailure.translating {
            var found: [String] = []
            var next: Int? = 0
            while let row = next, found.count < DatabaseContent.mostNamed {
                try Task.checkCancellation()
                let piece = try await readTables {
                    try DatabaseContent.strangeKeyPairs(in: $0, after: row, limit: Self.keyPairsPerRead)
                }
                found += piece.found.prefix(DatabaseContent.mostNamed)
                next = piece.last
            }
            return found + (try await readTables { try DatabaseContent.strangeSchema(in: $0) })
        }
    }
}
