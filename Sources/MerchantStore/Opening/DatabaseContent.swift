import GRDB
import MerchantCore
import Schema
import Vocabulary

/// What SQLite's own check cannot find: rows that fit their tables and yet are not what the daemon wrote.
enum DatabaseContent {
    private static let mostNamed = 20
    /// The deeds after which a key pair is in the state that the record names.
    private static let deeds: [AuditEntry.Deed] = [
        .keyGenerated, .keyImported, .certificateStored, .keyPromoted, .keySuperseded, .keyRevoked, .keyRestored,
        .keyDestroyed,
    ]

    /// All of the below, what concerns keys first.
    static func strange(in db: Database) throws -> [String] {
        try strangeStates(in: db) + strangePublicKeys(in: db)
            + strangeSchema(in: db).map { "the schema was altered: \($0)" }
    }

    /// Key pairs in another state than the last audit record about them says; at most 20 are named.
    ///
    /// Whoever changes a state past the daemon would have to change the audit chain as well.
    private static func strangeStates(in db: Database) throws -> [String] {
        let names = deeds.map { "'\($0.rawValue)'" }.joined(separator: ", ")
        return try Row.fetchAll(
            db,
            sql: """
                SELECT public_key_hash, state, told FROM (
                    SELECT public_key_hash, state, (
                        SELECT value_after FROM audit INDEXED BY audit_of_key_pair
                        WHERE audit.public_key_hash = key_pairs.public_key_hash AND deed IN (\(names))
                        ORDER BY sequence DESC LIMIT 1) AS told
                    FROM key_pairs)
                WHERE told <> state LIMIT \(mostNamed)
                """
        ).map { row in
            let hash = (try? row.publicKeyHash())?.description ?? "a key pair"
            return
                "\(hash) is \(try row.text("state")) in the database, \(try row.text("told")) by its last audit record: the row was altered"
        }
    }

    /// Key pairs stored with another public key than their hash says; at most 20 are named.
    private static func strangePublicKeys(in db: Database) throws -> [String] {
        let rows = try Row.fetchCursor(db, sql: "SELECT public_key_hash, subject_public_key_info FROM key_pairs")
        var found: [String] = []
        while let row = try rows.next(), found.count < mostNamed {
            let hash = try row.publicKeyHash()
            let held = PublicKeyHash(of: try row.bytes("subject_public_key_info"))
            if held != hash { found.append("\(hash) is stored with the public key of \(held): the row was altered") }
        }
        return found
    }

    /// Tables, indexes and triggers that are not as the migrations make them.
    private static func strangeSchema(in db: Database) throws -> [String] {
        let expected = try DatabaseQueue().write { fresh in
            for migration in Schema.migrations { try fresh.execute(sql: migration.sql) }
            return try objects(of: fresh)
        }
        let found = try objects(of: db)
        return Set(expected.keys).union(found.keys).sorted().compactMap { name in
            switch (expected[name], found[name]) {
            case (nil, _): "\(name) is in the database and none of this program's"
            case (_, nil): "\(name) is missing"
            case (let expected, let found): expected == found ? nil : "\(name) was altered"
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
    /// Key pairs in another state than the last audit record about them says, or with another public key, and what of the schema
    /// was altered.
    package func strangeContent() async throws -> [String] {
        try await StoreFailure.translating { try await pool.read { try DatabaseContent.strange(in: $0) } }
    }
}
