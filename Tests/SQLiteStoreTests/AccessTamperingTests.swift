import Foundation
import GRDB
import MerchantCore
import SQLiteStore
import Testing
import Vocabulary

/// Accesses that another program has changed, inserted or removed: the integrity check finds them.
@Suite struct AccessTamperingTests {
    let temporary: TemporaryStore

    init() throws { temporary = try TemporaryStore() }

    private func append(_ action: AuditAction, _ access: Access) async throws {
        try await temporary.store.write { transaction in
            try transaction.append(
                AuditEntry(
                    action, by: Sample.caller, at: Sample.time, after: AuditedAccess(access).auditText("for a test")))
        }
    }

    /// Stores a valid access with two tokens after a rotation, and a revoked access, with their audit records.
    private func fill() async throws {
        let store = temporary.store
        var access = try PortalTests.access("shop", secret: "access01")
        var revoked = try PortalTests.access("former", secret: "access02")
        try await store.write { [access, revoked] transaction in
            try transaction.insert(access)
            try transaction.insert(revoked)
        }
        try await append(.accessCreated, access)
        try await append(.accessCreated, revoked)
        let next = try PortalTests.access("next", secret: "access03").secrets[0]
        access.secrets = [next] + access.secrets
        revoked.revokedAt = Sample.time
        try await store.write { [access, revoked] transaction in
            try transaction.update(access)
            try transaction.update(revoked)
        }
        try await append(.accessRotated, access)
        try await append(.accessRevoked, revoked)
    }

    @Test func `accesses that match their audit records are no finding, whatever their last use`() async throws {
        #expect(try await temporary.store.inconsistentContent() == [])
        try await fill()
        #expect(try await temporary.store.inconsistentContent() == [])
        try await temporary.store.write { transaction in
            guard let name = AccessName("shop"), var access = try transaction.access(name) else { return }
            access.lastUsedAt = Sample.time
            try transaction.update(access)
        }
        #expect(try await temporary.store.inconsistentContent() == [])
    }

    /// The triggers are dropped for the statement and then created again, so that only rows differ, not the schema.
    @Test(arguments: [
        ("UPDATE accesses SET permits = 'onboard,read' WHERE name = 'shop'", "shop", "altered"),
        ("UPDATE accesses SET merchants = 'merchant.other' WHERE name = 'shop'", "shop", "altered"),
        ("UPDATE accesses SET certificate_fingerprint = zeroblob(32) WHERE name = 'shop'", "shop", "altered"),
        ("UPDATE accesses SET expires_at = 9000000000000 WHERE name = 'shop'", "shop", "altered"),
        ("UPDATE accesses SET revoked_at = NULL WHERE name = 'former'", "former", "altered"),
        ("UPDATE accesses SET name = 'other' WHERE name = 'former'", "other", "no audit record"),
        ("UPDATE access_secrets SET secret_digest = zeroblob(32) WHERE id = 1", "shop", "altered"),
        ("UPDATE access_secrets SET expires_at = 1 WHERE id = 1", "shop", "altered"),
        ("DELETE FROM access_secrets WHERE id = 1", "shop", "altered"),
        (
            "INSERT INTO accesses (name, permits, created_at) VALUES ('thief', 'onboard', 1)", "thief",
            "no audit record"
        ),
        ("PRAGMA foreign_keys = OFF; DELETE FROM accesses WHERE name = 'former'", "former", "was removed"),
    ])
    func `an access that another program changed, inserted or removed is a finding`(
        statement: String, name: String, expected: String
    ) async throws {
        try await fill()
        try temporary.withSeparateConnection { db in
            let triggers = try Row.fetchAll(
                db, sql: "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name LIKE 'access%'")
            #expect(!triggers.isEmpty)
            for trigger in triggers { try db.execute(sql: "DROP TRIGGER \(trigger["name"] as String)") }
            try db.execute(sql: statement)
            for trigger in triggers { try db.execute(sql: trigger["sql"] as String) }
        }
        let found = try await temporary.store.inconsistentContent()
        #expect(found.contains { $0.contains("access \(name) ") && $0.contains(expected) }, "\(found)")
    }

    @Test func `many accesses are checked in several batches`() async throws {
        let accesses = try (0..<600).map {
            try PortalTests.access("shop-\($0)", secret: "a" + String(format: "%07d", $0))
        }
        try await temporary.store.write { transaction in
            for access in accesses {
                try transaction.insert(access)
                try transaction.append(
                    AuditEntry(
                        .accessCreated, by: Sample.caller, at: Sample.time,
                        after: AuditedAccess(access).auditText("for a test")))
            }
        }
        #expect(try await temporary.store.inconsistentContent() == [])
        try temporary.withSeparateConnection { db in
            try db.execute(sql: "UPDATE accesses SET expires_at = 1 WHERE name = 'shop-599'")
        }
        #expect(try await temporary.store.inconsistentContent().count == 1)
    }

    @Test func `the content of an access is read from its audit record, and from no other text`() throws {
        let access = try PortalTests.access("shop", secret: "access01")
        let text = AuditedAccess(access).auditText("permits=onboard merchants=*")
        #expect(AuditedAccess(auditText: text) == AuditedAccess(access))
        for other in ["", "access=shop", "access=shop sha256=", "access=a/b sha256=00", text + "0", " x " + text] {
            #expect(AuditedAccess(auditText: other) == nil, "\(other)")
        }
    }
}
