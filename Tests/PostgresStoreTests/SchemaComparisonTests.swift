import Schema
import Testing

/// Compares the schemas for SQLite and PostgreSQL by their texts, so that a change of one of them is not forgotten in
/// the other.
@Suite struct SchemaComparisonTests {
    private static let sqlite = (Schema.migrations + Schema.claimsMigrations).map(\.sql).joined(separator: "\n")
    private static let postgresql = Schema.postgresqlMigrations.map(\.sql).joined(separator: "\n")

    /// `TABLE.COLUMN` of each column.
    private static func columns(_ sql: String) -> Set<String> {
        var found: Set<String> = []
        for table in sql.matches(of: /\nCREATE TABLE (\w+) \(\n((?:    .*\n)+)\)/) {
            for column in table.2.matches(
                of: /(?:^|\n)    ([a-z_0-9]+) (?:text|bigint|smallint|bytea|boolean|uuid|TEXT|INTEGER|BLOB)\b/)
            {
                found.insert("\(table.1).\(column.1)")
            }
        }
        return found
    }

    private static func names(of kind: String, _ sql: String) throws -> Set<String> {
        let pattern = try Regex("\\nCREATE (?:UNIQUE )?\(kind) (\\w+)")
        return Set(sql.matches(of: pattern).compactMap { $0.output[1].substring.map(String.init) })
    }

    @Test func `PostgreSQL has the tables and columns of SQLite, and only the listed further ones`() {
        let (sqlite, postgresql) = (Self.columns(Self.sqlite), Self.columns(Self.postgresql))
        #expect(sqlite.count > 150)
        #expect(sqlite.subtracting(postgresql) == [])
        #expect(
            postgresql.subtracting(sqlite) == [
                "instance.id", "instance.program", "instance.identifier", "audit_head.id", "audit_head.sequence",
                "audit_head.hash", "nodes.name", "nodes.run", "nodes.version", "nodes.joined_at",
                "nodes.applied_change", "nodes.loaded_data_key", "nodes.sealing_data_key", "nodes.master_keys",
                "leader.id", "leader.name", "leader.run", "key_changes.number",
                "key_changes.public_key_hashes",
            ])
    }

    @Test func `PostgreSQL has the indexes of SQLite, and only the listed further ones`() throws {
        let (sqlite, postgresql) = (
            try Self.names(of: "INDEX", Self.sqlite), try Self.names(of: "INDEX", Self.postgresql)
        )
        #expect(sqlite.count > 40)
        #expect(sqlite.subtracting(postgresql) == [])
        #expect(
            postgresql.subtracting(sqlite) == [
                "platform_integrators", "sealed_private_keys_by_data_key", "claims_by_time", "key_changes_by_time",
            ])
    }

    @Test func `PostgreSQL has each trigger of SQLite, alone or as a part of another one`() throws {
        let (sqlite, postgresql) = (
            try Self.names(of: "TRIGGER", Self.sqlite), try Self.names(of: "TRIGGER", Self.postgresql)
        )
        #expect(sqlite.count > 60)
        #expect(sqlite.subtracting(postgresql) == Set(Self.merged.keys))
        #expect(Set(Self.merged.values).subtracting(postgresql) == [])
    }

    /// The triggers of SQLite that are a part of another trigger in PostgreSQL.
    private static let merged = [
        "access_secrets_are_at_most_two": "access_secrets_of_a_valid_access",
        "certificates_not_verified": "certificates_counted",
        "key_watches_end": "key_watches_new_state",
        "merchants_newest_key_pair": "key_pairs_counted",
        "registration_domains_discounted": "registration_domains_counted",
        "registration_domains_recounted": "registration_domains_counted",
        "registration_domains_still_of_what_apple_has": "registration_domains_of_what_apple_has",
        "registrations_drift_counted": "registrations_counted",
        "registrations_drift_recounted": "registrations_counted",
        "rolls_end_before_their_new_key": "rolls_end_before_their_keys",
        "rolls_end_before_their_old_key": "rolls_end_before_their_keys",
        "token_notification_lanes_end": "token_notification_lanes_next",
    ]
}
