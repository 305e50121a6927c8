import Foundation
import GRDB
import MerchantCore
import SQLiteStore
import Testing
import Vocabulary

/// Constraints that SQL enforces for every program: each statement runs on a connection of its own.
@Suite struct ConstraintTests {
    /// Each test has its own instance of the suite, and so its own store.
    let temporary: TemporaryStore

    init() throws { temporary = try TemporaryStore() }

    /// - Returns: SQLite's error message; nil if the statement succeeds.
    private func message(_ sql: String) throws -> String? {
        try temporary.withSeparateConnection { db in
            do {
                try db.execute(sql: sql)
                return nil
            } catch let error as DatabaseError { return error.message ?? "" }
        }
    }

    @Test func `a merchant has at most one current key pair for each purpose and algorithm`() async throws {
        try await temporary.onboard(Sample.merchant, .current, seed: 1)
        try await temporary.onboard(Sample.merchant, .standby, seed: 2)
        let found = try message("UPDATE key_pairs SET state = 'current' WHERE state = 'standby'")
        #expect(found?.contains("UNIQUE constraint failed") == true)
        try await temporary.store.write { transaction throws in
            for (seed, algorithm, purpose) in [
                (3, KeyAlgorithm.rsaV1, KeyPurpose.paymentProcessing), (4, .rsaV1, .identity),
            ] {
                let other = Sample.keyPair(seed, .current, algorithm: algorithm, purpose: purpose)
                try transaction.insert(other, Sample.new(other, seed: seed))
            }
        }
    }

    @Test func `a publicKeyHash is unique`() async throws {
        try await temporary.onboard(seed: 1)
        let found = try message(
            """
            INSERT INTO sealed_private_keys (seal_version, data_key_id, sealed_bytes) VALUES (1, 1, x'00');
            INSERT INTO key_pairs SELECT last_insert_rowid(), public_key_hash, merchant_identifier, algorithm, purpose, origin,
                state, created_at, state_since, revocation_reason, destroy_after, exported_at, expires_at,
                issuer_not_verified, subject_public_key_info, certificate_signing_request FROM key_pairs;
            """)
        #expect(found == "UNIQUE constraint failed: key_pairs.public_key_hash")
    }

    @Test(arguments: [
        ("UPDATE key_pairs SET state = 'destroyed'", "destroyed exactly when"),
        ("UPDATE key_pairs SET state = 'asleep'", "CHECK constraint failed"),
        ("UPDATE key_pairs SET public_key_hash = zeroblob(32)", "never changes"),
        ("UPDATE key_pairs SET merchant_identifier = 'merchant.other'", "never changes"),
        ("UPDATE key_pairs SET destroy_after = 1", "CHECK constraint failed"),
        ("DELETE FROM key_pairs", "kept as history"),
        ("DELETE FROM certificates", "kept as history"),
        ("DELETE FROM merchants", "stays reserved"),
        ("DELETE FROM sealed_private_keys", "never deleted"),
        ("DELETE FROM data_keys", "a data key is erased in place, never deleted"),
        ("UPDATE sealed_private_keys SET erased = 1", "CHECK constraint failed"),
        ("UPDATE sealed_private_keys SET sealed_bytes = x''", "CHECK constraint failed"),
        ("UPDATE merchants SET removed_at = 1", "CHECK constraint failed"),
        ("UPDATE merchants SET target_active_key_pairs = 17", "CHECK constraint failed"),
        ("UPDATE audit SET reason = 'another'", "never changed"),
        ("DELETE FROM audit", "never deleted"),
        ("INSERT OR REPLACE INTO audit SELECT * FROM audit", "follows the last one"),
        ("INSERT INTO merchants (identifier, target_active_key_pairs, created_at) VALUES ('shop', 2, 1)", "CHECK"),
        (
            "INSERT INTO merchants (identifier, target_active_key_pairs, created_at) VALUES ('merchant.b', 'x', 1)",
            "TEXT"
        ),
        (
            "INSERT INTO certificates SELECT 9, zeroblob(32), zeroblob(32), der, '', '', '', 1, 2, 0, 3 FROM certificates",
            "FOREIGN KEY constraint failed"
        ),
    ])
    func `a statement that violates a constraint is refused`(statement: String, expected: String) async throws {
        try await temporary.onboard(Sample.merchant, .standby, certificateEnds: Sample.time)
        try await temporary.store.write { try $0.append(Sample.entry(.merchantAdded)) }
        let found = try message(statement)
        #expect(found?.contains(expected) == true, "\(statement): \(found ?? "no error")")
    }

    @Test func `erasing a private key destroys its key pair, and neither can be restored`() async throws {
        let keyPair = try await temporary.onboard(Sample.merchant, .revoked)
        #expect(
            try message(
                "UPDATE sealed_private_keys SET sealed_bytes = zeroblob(length(sealed_bytes)), erased = 1") == nil)
        try temporary.store.readNow { reader throws in
            #expect(try reader.keyPair(keyPair.publicKeyHash)?.state == .destroyed)
            #expect(try reader.sealedPrivateKey(of: keyPair.publicKeyHash) == nil)
        }
        #expect(
            try message("UPDATE key_pairs SET state = 'revoked'")?.contains("destroyed exactly") == true)
        #expect(
            try message("UPDATE sealed_private_keys SET erased = 0")?.contains("cannot come back")
                == true)
    }
}
