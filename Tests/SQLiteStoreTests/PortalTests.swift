import Foundation
import GRDB
import MerchantCore
import SQLiteStore
import Synchronization
import Testing
import Vocabulary

/// Accesses, invitations, sessions and logins: constraints that SQL enforces for every program, and query plans.
@Suite struct PortalTests {
    /// Each test has its own instance of the suite, and so its own store.
    let temporary: TemporaryStore

    init() throws { temporary = try TemporaryStore() }

    private static func secret(_ text: String) throws -> StoredSecret {
        StoredSecret(identifier: text, digest: try #require(Bits256(bytes: Sample.sha256(text))))
    }

    static func access(_ name: String, secret text: String) throws -> Access {
        Access(
            name: try #require(AccessName(name)), permits: [.onboard], merchants: nil,
            secrets: [AccessSecret(stored: try secret(text), createdAt: Sample.time, expiresAt: nil)],
            createdAt: Sample.time)
    }

    static func invitation(_ identifier: String, secret text: String) throws -> Invitation {
        Invitation(
            identifier: try #require(InvitationIdentifier(identifier)), merchantIdentifier: Sample.merchant,
            secret: try secret(text), note: nil, createdBy: "uid:1000", createdAt: Sample.time,
            expiresAt: Sample.time.adding(.seconds(60)))
    }

    /// Stores a revoked access, a used and a revoked invitation, a session of each kind, and a used login.
    private func fill(_ store: SQLiteStore) async throws {
        var access = try Self.access("shop", secret: "access01")
        var used = try Self.invitation("0000000000000001", secret: "invite01")
        var revoked = try Self.invitation("0000000000000002", secret: "invite02")
        let session = PortalSession(
            secret: try Self.secret("session1"), holder: .invitation(used.identifier, Sample.merchant),
            createdAt: Sample.time, lastSeenAt: Sample.time)
        let operating = PortalSession(
            secret: try Self.secret("session2"), holder: .operating(uid: 1000, groups: [1, 2]), createdAt: Sample.time,
            lastSeenAt: Sample.time)
        var login = OperatorLogin(
            secret: try Self.secret("login001"), uid: 1000, groups: [], createdAt: Sample.time,
            expiresAt: Sample.time.adding(.seconds(60)))
        try await store.write { [access, used, revoked, login] transaction in
            try transaction.insert(Sample.record(Sample.merchant))
            try transaction.insert(access)
            try transaction.insert(used)
            try transaction.insert(revoked)
            try transaction.insert(session)
            try transaction.insert(operating)
            try transaction.insert(login)
        }
        access.revokedAt = Sample.time
        used.usedAt = Sample.time
        revoked.revokedAt = Sample.time
        login.usedAt = Sample.time
        try await store.write { [access, used, revoked, login] transaction in
            try transaction.update(access)
            try transaction.update(used)
            try transaction.update(revoked)
            try transaction.update(login)
        }
    }

    @Test(arguments: [
        ("UPDATE accesses SET revoked_at = NULL", "stays revoked"),
        ("UPDATE accesses SET permits = 'onboard,read'", "never changes"),
        ("UPDATE accesses SET merchants = NULL", "never changes"),
        ("DELETE FROM accesses", "kept as history"),
        ("INSERT INTO accesses (name, permits, created_at) VALUES ('-', 'read', 1)", "CHECK constraint failed"),
        ("INSERT INTO accesses (name, permits, created_at) VALUES ('a', 'administer', 1)", "CHECK constraint failed"),
        ("INSERT INTO accesses (name, permits, created_at) VALUES ('shop', 'read', 1)", "UNIQUE constraint failed"),
        ("UPDATE access_secrets SET secret_digest = zeroblob(32)", "never changes"),
        (
            """
            INSERT INTO access_secrets (access_id, secret_identifier, secret_digest, created_at)
            SELECT id, 'access02', zeroblob(32), 1 FROM accesses
            """, "gets no secret"
        ),
        (
            """
            INSERT INTO accesses (name, permits, created_at) VALUES ('a', 'read', 1);
            INSERT INTO access_secrets (access_id, secret_identifier, secret_digest, created_at)
            SELECT id, 'access02', x'00', 1 FROM accesses WHERE name = 'a'
            """, "CHECK constraint failed"
        ),
        ("UPDATE invitations SET used_at = NULL WHERE used_at > 0", "used at most once"),
        ("UPDATE invitations SET used_at = used_at + 1 WHERE used_at > 0", "used at most once"),
        ("UPDATE invitations SET used_at = created_at WHERE revoked_at > 0", "not after its revocation"),
        ("UPDATE invitations SET revoked_at = NULL", "stays revoked"),
        ("UPDATE invitations SET expires_at = expires_at + 1", "never changes"),
        ("UPDATE invitations SET merchant_identifier = 'merchant.other'", "never changes"),
        ("DELETE FROM invitations", "kept as history"),
        ("UPDATE portal_sessions SET operator_uid = 0 WHERE operator_uid > 0", "never changes"),
        ("UPDATE portal_sessions SET invitation_id = 2 WHERE invitation_id = 1", "never changes"),
        (
            """
            INSERT INTO portal_sessions (secret_identifier, secret_digest, invitation_id, created_at, last_seen_at)
            SELECT 'session3', zeroblob(32), id, 1, 1 FROM invitations WHERE revoked_at > 0
            """, "begins no session"
        ),
        (
            """
            INSERT INTO portal_sessions (secret_identifier, secret_digest, invitation_id, created_at, last_seen_at)
            SELECT 'session3', zeroblob(32), id, 1, 1 FROM invitations WHERE used_at > 0
            """, "UNIQUE constraint failed"
        ),
        (
            """
            INSERT INTO portal_sessions (secret_identifier, secret_digest, created_at, last_seen_at)
            VALUES ('session3', zeroblob(32), 1, 1)
            """, "CHECK constraint failed"
        ),
        ("UPDATE operator_logins SET used_at = NULL", "used at most once"),
        ("UPDATE operator_logins SET operator_uid = 0", "never changes"),
        ("UPDATE operator_logins SET expires_at = expires_at + 1", "never changes"),
    ])
    func `a statement that violates a constraint is refused`(statement: String, expected: String) async throws {
        try await fill(temporary.store)
        let found: String? = try temporary.withSeparateConnection { db in
            do {
                try db.execute(sql: statement)
                return nil
            } catch let error as DatabaseError { return error.message ?? "" }
        }
        #expect(found?.contains(expected) == true, "\(statement): \(found ?? "no error")")
    }

    @Test func `an access is found by the identifier of its secret, and the secret is not stored`() async throws {
        let secret = PortalSecret(generating: .access)
        let access = Access(
            name: try #require(AccessName("shop")), permits: [.read], merchants: [Sample.merchant],
            secrets: [AccessSecret(stored: secret.stored, createdAt: Sample.time, expiresAt: nil)],
            createdAt: Sample.time)
        try await temporary.store.write { try $0.insert(access) }
        let found = try await temporary.store.read { try $0.access(secretIdentifier: secret.identifier) }
        #expect(found == access && found?.secrets.first?.stored.matches(secret) == true)
        try temporary.store.close()
        let file = try Data(contentsOf: URL(filePath: temporary.path))
        #expect(file.range(of: Data(secret.identifier.utf8)) != nil)
        #expect(file.range(of: Data(secret.text.utf8)) == nil)
        #expect(file.range(of: Data(secret.text.dropFirst(12).prefix(32).utf8)) == nil)
    }

    @Test func `no query about accesses, invitations, sessions and logins scans a whole table`() async throws {
        let statements = Mutex<Set<String>>([])
        let traced = try TemporaryStore(trace: { sql in statements.withLock { _ = $0.insert(sql) } })
        statements.withLock { $0 = [] }
        let other = try Self.access("other", secret: "access02")
        let fingerprint = try #require(Bits256(bytes: Sample.sha256("certificate")))
        let invitation = try #require(InvitationIdentifier("0000000000000001"))
        try await fill(traced.store)
        try await traced.store.write { transaction throws in
            try transaction.insert(other)
            var rotated = other
            rotated.secrets = []
            rotated.expiresAt = Sample.time
            try transaction.update(rotated)
            guard let session = try transaction.portalSession(secretIdentifier: "session2") else { return }
            try transaction.update(session)
            try transaction.removePortalSession(secretIdentifier: "session2")
            _ = try transaction.removePortalSessions(of: invitation)
            _ = try transaction.removePortalSessions(ofInvitationsCreatedBy: "access:shop")
            _ = try transaction.revokeOpenInvitations(createdBy: "access:shop", at: Sample.time)
            _ = try transaction.removeOperatorSessions(of: 1000)
            _ = try transaction.removeOperatorSessions(of: nil)
            _ = try transaction.removeOpenLogins(of: nil, at: Sample.time)
            _ = try transaction.removeExpiredSessions(seenBefore: Sample.time, createdBefore: Sample.time, limit: 9)
        }
        try traced.store.readNow { reader throws in
            _ = try reader.access(other.name)
            _ = try reader.access(secretIdentifier: "access01")
            _ = try reader.access(certificateFingerprint: fingerprint)
            _ = try reader.accesses(after: other.name, limit: 9)
            _ = try reader.invitation(invitation)
            _ = try reader.invitation(secretIdentifier: "invite01")
            for merchant in [Sample.merchant, nil] {
                _ = try reader.invitations(of: merchant, after: invitation, limit: 9)
            }
            _ = try reader.operatorLogin(secretIdentifier: "login001")
        }
        let executed = statements.withLock { $0 }.filter { sql in
            ["SELECT ", "UPDATE ", "DELETE "].contains { sql.hasPrefix($0) } && !sql.contains("sqlite_master")
        }
        #expect(executed.count > 18)
        let large = ["accesses", "access_secrets", "invitations", "portal_sessions", "operator_logins", "merchants"]
        try traced.withSeparateConnection { db in
            for sql in executed {
                let statement = try db.makeStatement(sql: "EXPLAIN QUERY PLAN \(sql)")
                statement.setUncheckedArguments(
                    StatementArguments([Int?](repeating: nil, count: sql.count { $0 == "?" })))
                for row in try Row.fetchAll(statement) {
                    let step: String = row["detail"]
                    #expect(!large.contains { step.hasPrefix("SCAN \($0)") }, "\(step) in \(sql)")
                    #expect(!step.contains("TEMP B-TREE"), "\(step) in \(sql)")
                }
            }
        }
    }
}
