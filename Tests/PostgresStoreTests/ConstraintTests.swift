import MerchantCore
import MerchantTestSupport
import PostgresStore
import Testing
import Vocabulary

/// Constraints that SQL enforces for every program: each statement runs in `psql`.
@Suite struct ConstraintTests {
    let database: TemporaryDatabase
    let store: PostgresStore

    init() async throws {
        database = try TemporaryDatabase()
        store = try database.store()
        try await store.write { transaction in
            try transaction.insert(Sample.record(0))
            let keyPair = Sample.keyPair(1, .standby)
            try transaction.insert(keyPair, Sample.new(keyPair))
            _ = try transaction.insert(Sample.certificate(1), of: keyPair.publicKeyHash)
            try transaction.append(Sample.entry(0))
        }
    }

    @Test(arguments: [
        ("UPDATE key_pairs SET state = 'destroyed'", "destroyed exactly when"),
        ("UPDATE key_pairs SET state = 'asleep'", "check constraint"),
        ("UPDATE key_pairs SET public_key_hash = zeros(32)", "never changes"),
        ("UPDATE key_pairs SET merchant_identifier = 'merchant.other'", "never changes"),
        ("UPDATE key_pairs SET destroy_after = 1", "check constraint"),
        ("DELETE FROM key_pairs", "kept as history"),
        ("DELETE FROM certificates", "kept as history"),
        ("DELETE FROM merchants", "stays reserved"),
        ("DELETE FROM sealed_private_keys", "never deleted"),
        ("DELETE FROM data_keys", "never deleted"),
        ("UPDATE data_keys SET sealed_bytes = zeros(octet_length(sealed_bytes))", "nothing is sealed under it"),
        ("UPDATE sealed_private_keys SET erased = true", "check constraint"),
        ("UPDATE sealed_private_keys SET sealed_bytes = ''", "check constraint"),
        ("UPDATE merchants SET removed_at = 1", "check constraint"),
        ("UPDATE merchants SET target_active_key_pairs = 17", "check constraint"),
        ("UPDATE audit SET reason = 'another'", "never changed"),
        ("DELETE FROM audit", "never deleted"),
        ("TRUNCATE audit", "never deleted"),
        ("TRUNCATE merchants CASCADE", "stays reserved"),
        ("TRUNCATE key_pairs CASCADE", "kept as history"),
        ("UPDATE audit_head SET sequence = sequence + 2", "only moves to the next record"),
        ("DELETE FROM audit_head", "never deleted"),
        ("INSERT INTO audit SELECT (a).* FROM (SELECT audit AS a FROM audit) AS copies", "follows the last one"),
        ("INSERT INTO merchants (identifier, target_active_key_pairs, created_at) VALUES ('shop', 2, 1)", "check"),
        (
            "INSERT INTO certificates (fingerprint, public_key_hash, der, serial_number, subject, issuer, not_before, not_after, issuer_verified, stored_at) VALUES (zeros(32), zeros(32), '1', '', '', '', 1, 2, false, 3)",
            "foreign key"
        ),
    ])
    func `a statement that violates a constraint is refused`(statement: String, expected: String) throws {
        let found = try database.message(statement)
        #expect(found?.contains(expected) == true, "\(statement): \(found ?? "no error")")
    }

    @Test func `erasing a private key destroys its key pair, and neither can be restored`() async throws {
        try await store.write { try $0.update(Sample.keyPair(1, .revoked)) }
        let erase = "UPDATE sealed_private_keys SET sealed_bytes = zeros(octet_length(sealed_bytes)), erased = true"
        #expect(try database.message(erase) == nil)
        try store.readNow { reader throws in
            #expect(try reader.keyPair(Sample.hash(1))?.state == .destroyed)
            #expect(try reader.sealedPrivateKey(of: Sample.hash(1)) == nil)
        }
        #expect(
            try database.message("UPDATE key_pairs SET state = 'revoked'")?.contains("destroyed exactly") == true)
        #expect(
            try database.message("UPDATE sealed_private_keys SET erased = false")?.contains("cannot come back") == true)
    }

    @Test func `text is compared by its bytes, whatever the database's collation is`() throws {
        let columns = try database.execute(
            """
            SELECT string_agg(c.relname || '.' || a.attname, ' ') FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
            WHERE c.relnamespace = 'merchantkeyd'::regnamespace AND c.relkind = 'r' AND a.attnum > 0
                AND a.atttypid = 'text'::regtype AND a.attcollation <> '"C"'::regcollation
            """)
        #expect(columns.isEmpty)
    }

    @Test func `every function of a trigger finds its tables with any search path`() throws {
        let functions = try database.execute(
            """
            SELECT string_agg(proname, ' ') FROM pg_proc
            WHERE pronamespace = 'merchantkeyd'::regnamespace AND prosrc ~ '(FROM|UPDATE|INTO) ' AND proconfig IS NULL
            """)
        #expect(functions.isEmpty)
    }
}
