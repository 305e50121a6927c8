import MerchantCore
import PostgresStore
import SQLiteStore
import Vocabulary

/// Predicts for `config check` and `diagnose` what the next start would find. Changes nothing. A daemon may run
/// meanwhile.
struct StartForecast {
    private(set) var observation: StartObservation
    /// Why the comparison of the audit with the recorded heads failed; nil if it succeeded, or was not made yet.
    private(set) var comparisonFailure: (any Error)?
    private let settings: Settings
    private let lockFile: LockFileContent

    /// Observes the files of a SQLite database, as a start does before it opens the database.
    ///
    /// - Throws: ``SettingsError`` if the restore marker cannot be read.
    init(onFilesOf settings: Settings) throws {
        self.settings = settings
        lockFile = InstanceLock.content(ofFile: settings.lockPath)
        observation = try StartObserver.forCheck(settings).observeFiles(lockFile)
    }

    /// Observes what can be known before the connection to a PostgreSQL server.
    init(onServerOf settings: Settings, _ postgresql: PostgreSQLSettings) {
        self.settings = settings
        lockFile = InstanceLock.content(ofFile: settings.lockPath)
        observation = StartObserver.forCheck(settings)
            .observeServer(named: postgresql.connection.databaseName, lockFile)
    }

    /// Adds what the content of the SQLite database shows.
    mutating func addContent(_ content: StartContent) async {
        let path = settings.databasePath
        await add(content) { head in
            guard !DatabaseInspection.contains(head, in: path) else { return nil }
            return head.sequence > content.auditHead?.sequence ?? 0
                ? "audit record \(head.sequence) is missing: records were removed, or an older copy of the database was put back"
                : "audit record \(head.sequence) has another hash: the audit was rewritten, or this is another database"
        }
    }

    /// Adds what follows if there is no database, or only an empty one: for example, that audit records are missing.
    mutating func addMissingContent() {
        if observation.server != nil {
            observation.server?.lostTransactions = lockFile.head.map {
                "audit record \($0.auditHead.sequence), which this daemon has seen, is missing, and the database is empty"
            }
        }
        do { observation.auditComparison = try StartObserver.forCheck(settings).compareMissingAudit(lockFile) } catch {
            comparisonFailure = error
        }
    }

    /// Adds what the content of the PostgreSQL database shows, and which daemons use the database.
    ///
    /// - Throws: `storeUnavailable` if the database cannot be read.
    mutating func addContent(
        _ content: StartContent, of database: PostgresDatabase, _ postgresql: PostgreSQLSettings
    ) async throws {
        observation.server?.hasContent = !content.dataKeys.isEmpty
        observation.server?.lostTransactions = try lockFile.head.flatMap {
            try database.lostTransactions(since: $0.auditHead)?.description
        }
        // The last run in this state directory, which may be running now. A start replaces it.
        let thisNode = Node(name: postgresql.node, run: lockFile.nodeRun, version: Program.version)
        var others: [NodeState]
        // A killed daemon with another state directory may still have a lease under this name. Waits for its end, as a
        // start does.
        let deadline = ContinuousClock.now + postgresql.lease.length + .seconds(2)
        while true {
            others = try database.nodes(seenBy: thisNode).filter { !$0.isThisDaemon }
            let isNameInUse = others.contains { $0.name == thisNode.name && $0.mayUseKeys }
            guard isNameInUse else { break }
            guard ContinuousClock.now < deadline else {
                observation.server?.nameInUse = thisNode.name.text
                break
            }
            try await Task.sleep(for: .milliseconds(100))
        }
        observation.server?.others = others.filter { $0.name != thisNode.name && $0.leaseRemaining > .zero }
            .map(\.name.rawValue)
        await add(content) { try database.lostTransactions(since: $0)?.description }
    }

    private mutating func add(_ content: StartContent, difference: (AuditHead) async throws -> String?) async {
        observation.environmentChange = StartObservation.EnvironmentChange(
            from: content.environment, to: settings.environment)
        do {
            observation.auditComparison = try await StartObserver.forCheck(settings).compareAudit(
                restoredFrom: content.restoredFrom, headInDatabase: content.auditHead, lockFile, difference: difference)
        } catch { comparisonFailure = error }
    }

    /// Adds that the master key does not open the database.
    mutating func rejectMasterKey(_ why: String) { observation.masterKey = .rejected(why) }
}

extension NodeState {
    /// Whether the lease of the daemon is valid, or `serve-stale` lets it use the keys in its caches without a lease.
    /// Adds a second to each period, as the other daemons do.
    fileprivate var mayUseKeys: Bool { max(leaseRemaining, cacheRemaining) > .seconds(-1) }
}
