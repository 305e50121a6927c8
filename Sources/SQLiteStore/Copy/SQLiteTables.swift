import FoundationEssentials
import GRDB
import MerchantCore
import Schema
package import StoreCore

/// Reads the tables of the merchants database and, if there is one, of the claims database, so that they can be copied
/// to another store. Changes nothing.
///
/// No other program may write to the files meanwhile: the caller ensures that no daemon runs.
package struct SQLiteTables: TableReading {
    private let merchants: SQLiteCopyFile
    private let claims: SQLiteCopyFile?

    /// - Parameter claims: nil for the database of a backup.
    /// - Throws: `storeUnavailable` for a file that is missing or damaged, that another program created, or that
    ///   another version of this program wrote.
    package init(database: String, claims: String?) throws {
        self.init(
            merchants: try Self.openChecked(database, .merchants, Schema.migrations),
            claims: try claims.map { try Self.openChecked($0, .claims, Schema.claimsMigrations) })
    }

    init(merchants: SQLiteCopyFile, claims: SQLiteCopyFile?) {
        self.merchants = merchants
        self.claims = claims
    }

    private static func openChecked(
        _ path: String, _ kind: DatabaseKind, _ migrations: [(name: String, sql: String)]
    ) throws -> SQLiteCopyFile {
        try SQLiteErrors.translating(of: kind) {
            let file = SQLiteCopyFile(queue: try DatabaseInspection.openReadOnly(path), kind: kind)
            try file.queue.read { db in
                try Connections.refuseForeignDatabase(db, path: path, kind: kind)
                try requireCurrent(migrations, in: db, path)
                let faults =
                    try [DatabaseHeader.fault(of: path)].compactMap(\.self)
                    + SQLiteStore.faults(in: db, byCheck: "integrity_check")
                guard faults.isEmpty else {
                    throw MerchantError(
                        .storeUnavailable,
                        "\(path) is damaged (\(faults.prefix(3).joined(separator: "; "))). Repair the database before you copy it; see docs/storage-failures.md"
                    )
                }
            }
            return file
        }
    }

    private static func requireCurrent(
        _ migrations: [(name: String, sql: String)], in db: Database, _ path: String
    ) throws {
        let version = try Migrations.requireKnownMigrations(migrations, in: db)
        guard version == migrations.count else {
            throw MerchantError(
                .storeUnavailable,
                "\(path) has schema version \(version), expected \(migrations.count): start this version of merchantkeyd once with this database to upgrade its schema, and stop it again"
            )
        }
    }

    /// The findings of ``IntegrityCheck``: changes by other programs that SQLite's own check cannot find.
    package func inconsistentContent() throws -> [String] { try merchants.read { IntegrityCheck.findings(in: $0) } }

    package func tables() throws -> [CopiedTable] { try merchants.tables() + (claims?.tables() ?? []) }

    package func rows(of table: CopiedTable, after key: CopiedRow?, limit: Int) throws -> [CopiedRow] {
        try file(of: table).rows(of: table, after: key, limit: limit)
    }

    package func lastKey(of table: CopiedTable) throws -> CopiedRow? { try file(of: table).lastKey(of: table) }

    package func assignedNumbers() throws -> [String: Int64] { try merchants.assignedNumbers() }

    func file(of table: CopiedTable) -> SQLiteCopyFile {
        if let claims, CopyPlan.tablesOfClaims.contains(table.name) { claims } else { merchants }
    }
}
