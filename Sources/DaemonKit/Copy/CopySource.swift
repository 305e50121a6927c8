import KeyCustody
import MerchantCore
import MerchantOperations
import PostgresStore
import SQLiteStore
import StoreCore
import Vocabulary

/// The store that is copied. No daemon can use the store while this value exists.
struct CopySource {
    let tables: any TableReading
    /// The database, for messages and for the audit.
    let name: String
    /// The last audit record.
    let head: AuditHead
    /// Warnings for the operator about the state of the source.
    let warnings: [StartFinding]
    private let settings: Settings
    private let locks: CopyLocks
    private let audit: CopiedTable
    private let dataKeys: CopiedTable

    /// Opens the store as a start of the daemon would, but changes nothing.
    ///
    /// - Parameter readsMasterKey: whether the master key in the settings is used.
    /// - Throws: ``SettingsError`` or `storeUnavailable` if a daemon uses the store, if there is none, or if it is
    ///   damaged; ``SettingsError`` also with each finding that would prevent a start of the daemon, or that a start
    ///   must record before the copy.
    init(_ settings: Settings, readsMasterKey: Bool, durability: Durability = .required) async throws {
        let locks = try CopyLocks(settings, durability)
        let observer = StartObserver(settings: settings)
        var observation: StartObservation
        // The last audit record that a daemon on PostgreSQL has seen.
        var seen: AuditHead?
        if let postgresql = settings.store.postgresql {
            name = "the PostgreSQL database \(postgresql.connection.databaseName)"
            let lockFile = InstanceLock.content(ofFile: settings.lockPath)
            observation = observer.observeServer(named: postgresql.connection.databaseName, lockFile)
            seen = lockFile.head?.auditHead
            observation.server?.hasContent = true
            tables = try PostgresTables(postgresql.connection, durability: durability)
        } else {
            name = "the SQLite database \(settings.databasePath)"
            guard FileStatus(of: settings.databasePath) != nil else {
                throw SettingsError(
                    "the state directory \(settings.stateDirectory) contains no SQLite database, so there is nothing to copy; name the settings of the daemon that has the data with --from"
                )
            }
            observation = try observer.observeFiles(locks.previousContent)
            if !readsMasterKey { observation.masterKey = .supplied }
            // Checked before the database is opened, because a log of another database must not be read.
            _ = try Self.warnings(of: observation)
            let files = try SQLiteTables(database: settings.databasePath, claims: settings.claimsPath)
            let faults = try files.inconsistentContent()
            guard faults.isEmpty else {
                throw SettingsError(
                    problems: faults.prefix(3).map {
                        "\(settings.databasePath) was altered, so it is not copied: \($0); see docs/storage-failures.md"
                    })
            }
            tables = files
        }
        if !readsMasterKey { observation.masterKey = .supplied }
        let all = try tables.tables()
        func table(_ name: String) throws -> CopiedTable {
            guard let found = all.first(where: { $0.name == name }) else {
                throw MerchantError(.internalError, "the source has no table \(name): report this error")
            }
            return found
        }
        let (audit, daemonValues, tables) = (try table("audit"), try table("daemon_values"), tables)
        guard let head = try tables.auditHead(in: audit) else {
            throw SettingsError(
                "\(name) contains no audit record, so no daemon has used it and there is nothing to copy; name the settings of the daemon that has the data with --from"
            )
        }
        func difference(from expected: AuditHead) throws -> String? {
            try tables.auditHash(of: expected.sequence, in: audit) == expected.hash
                ? nil : "audit record \(expected.sequence) is missing or has another hash"
        }
        observation.server?.lostTransactions = try seen.flatMap(difference)
        observation.auditComparison = try await observer.compareAudit(
            restoredFrom: tables.text(StartOperations.restoreValueName, in: daemonValues), headInDatabase: head,
            observation.lockFile, difference: difference)
        warnings = try Self.warnings(of: observation)
        self.audit = audit
        self.head = head
        dataKeys = try table("data_keys")
        self.settings = settings
        self.locks = locks
    }

    /// - Throws: ``SettingsError`` for each finding with which a start would be refused, that only a start records, or
    ///   that reports lost claims.
    private static func warnings(of observation: StartObservation) throws -> [StartFinding] {
        let refusals: [StartFinding]
        let warnings: [StartFinding]
        switch StartDecision(on: observation, acceptsOlderDatabase: false) {
        case .refuse(let findings): (refusals, warnings) = (findings, [])
        case .open(let losses, let found):
            // A daemon starts even if its claims are missing. But a copy would hide that they are missing.
            refusals = losses + found.filter { $0.code.isLossOfClaims }
            warnings = found
        }
        guard refusals.isEmpty else {
            throw SettingsError(
                problems: refusals.map {
                    "the source cannot be copied: \($0.message) [\($0.code.rawValue)]; then start the daemon once on the source, stop it, and run the command again"
                })
        }
        return warnings
    }

    /// The data keys of the source, to check master keys with them.
    func sealedDataKeys() throws -> some DataKeyRepository {
        CopiedDataKeys(keys: try tables.allRows(of: dataKeys).map { try SealedDataKey($0, of: dataKeys) })
    }

    /// Checks that the source has not changed since it was opened.
    ///
    /// - Throws: `storeUnavailable` if a daemon has used it.
    func requireUnchanged() throws {
        try locks.requireNoDaemon()
        guard let postgresql = settings.store.postgresql else { return }
        let present = try PostgresTables(postgresql.connection, durability: locks.durability).auditHead(in: audit)
        guard present == head else {
            throw MerchantError(
                .storeUnavailable,
                "a daemon has changed \(name) during the copy: stop all daemons, and run the command again")
        }
    }
}

/// The data keys of the source of a copy. Refuses to store new data keys.
private struct CopiedDataKeys: DataKeyRepository {
    let keys: [SealedDataKey]

    func dataKeys() throws -> [SealedDataKey] { keys }

    func insert(_ dataKey: SealedDataKey) throws {
        throw MerchantError(
            .storeUnavailable, "the source has no data key, so there is nothing to copy: check the settings of --from")
    }
}

extension SealedDataKey {
    fileprivate init(_ row: CopiedRow, of table: CopiedTable) throws {
        func value(_ column: String) -> StoredValue? { table.index(of: column).flatMap { row[$0] } }
        guard case .integer(let identifier) = value("id"), case .bytes(let bytes) = value("sealed_bytes"),
            case .bytes(let check) = value("master_key_check"), case .integer(let created) = value("created_at")
        else { throw MerchantError.invalidValue(of: "data_keys") }
        self.init(
            identifier: Int(identifier), bytes: bytes, masterKeyCheck: check,
            createdAt: Timestamp(millisecondsSince1970: created))
    }
}

extension TableReading {
    /// All rows of a table that has few rows.
    fileprivate func allRows(of table: CopiedTable) throws -> [CopiedRow] {
        try rows(of: table, after: nil, limit: 100_000)
    }

    /// The value of a row of `daemon_values`; nil if there is no such row.
    fileprivate func text(_ name: String, in daemonValues: CopiedTable) throws -> String? {
        guard let nameIndex = daemonValues.index(of: "name"), let valueIndex = daemonValues.index(of: "value") else {
            return nil
        }
        for row in try allRows(of: daemonValues) {
            if case .text(name) = row[nameIndex], case .text(let value) = row[valueIndex] { return value }
        }
        return nil
    }
}
