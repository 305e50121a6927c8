import KeyCustody
import MerchantCore
import MerchantOperations
import PostgresStore
import StoreCore
import Vocabulary

/// Copies all data of a daemon from SQLite to PostgreSQL or back, and verifies the copy. If the copy is interrupted,
/// another run continues it. The source is not changed.
struct StoreCopy {
    /// The settings of the daemon that has the data.
    let from: Settings
    /// The settings of the daemon that gets the data.
    let to: Settings
    /// The files of master keys that the command line names. If empty, the master keys in the settings are used.
    var masterKeyFiles: [String] = []
    let clock: any WallClock
    /// Only tests pass `notRequired`.
    var durability = Durability.required
    /// Called with a text for the operator before each step that can take long.
    var report: (String) -> Void = { _ in }

    struct Report: Sendable {
        let source: String
        let target: String
        let isResumed: Bool
        let tables: [DatabaseCopy.Table]
        /// The verification of the keys and the audit; nil if it was not performed, because the tables differ.
        let verification: BackupContentVerifier?
        /// Faults of the copy; empty if a daemon can use the target.
        let findings: [String]
        let warnings: [String]
        let seconds: Double
    }

    /// - Throws: an error if the copy cannot begin or was interrupted. If the copy failed its verification, the report
    ///   has findings instead.
    func run() async throws -> Report {
        let begin = ContinuousClock.now
        guard from.store.kind != to.store.kind else {
            throw SettingsError(
                "the settings of --from and --to both have 'store.kind: \(from.store.kind.rawValue)', but a copy is from one kind of store to the other; correct one of the files"
            )
        }
        guard from.environment == to.environment else {
            throw SettingsError(
                "'environment' is \(from.environment.rawValue) in the settings of --from and \(to.environment.rawValue) in those of --to; set the same environment in both files"
            )
        }
        let source = try await CopySource(from, readsMasterKey: masterKeyFiles.isEmpty, durability: durability)
        let masterKeys = try checkedMasterKeys(source)
        let target = try openTarget(UnfinishedCopyMark(sourceHead: source.head))
        let copy = try DatabaseCopy(from: source.tables, to: target.tables)
        let copied = try copy.copyRows(report: report)
        let (tables, differences) = try copy.compare(copied: copied, report: report)
        var findings = differences
        var verification: BackupContentVerifier?
        if findings.isEmpty {
            report("verifying every key and the audit")
            let (verified, store) = try await verify(target, masterKeys)
            defer { target.close(store) }
            verification = verified
            findings = verified.findings
            try source.requireUnchanged()
            if findings.isEmpty {
                try await target.finish(
                    store,
                    storing: (StartOperations.copyValueName, "copied from \(source.name) at \(clock.now)"))
            }
        }
        if !findings.isEmpty { try target.discard() }
        // `source` and `target` hold the locks that keep daemons out of the stores, so both must live until here.
        withExtendedLifetime((source, target)) {}
        let (seconds, attoseconds) = (ContinuousClock.now - begin).components
        return Report(
            source: source.name, target: target.name, isResumed: target.isResumed, tables: tables,
            verification: verification, findings: findings, warnings: source.warnings.map(\.message),
            seconds: Double(seconds) + (Double(attoseconds) / 1e15).rounded() / 1e3)
    }

    private func openTarget(_ mark: UnfinishedCopyMark) throws -> any CopyTarget {
        if let postgresql = to.store.postgresql {
            return try PostgresCopyTarget(to, postgresql, mark: mark, clock: clock, durability: durability)
        }
        return try SQLiteCopyTarget(to, mark: mark, clock: clock, durability: durability)
    }

    /// Checks that the master keys in the settings of both daemons open the data keys of the source; if the command
    /// line names files of master keys, checks these instead. Private keys and data keys are copied as they are sealed,
    /// so both daemons need the same master key.
    ///
    /// - Returns: the master keys of the target's settings, or those of the command line.
    private func checkedMasterKeys(_ source: CopySource) throws -> MasterKeys {
        let dataKeys = try source.sealedDataKeys()
        func checked(_ settings: Settings, _ option: String, advice: String) throws -> MasterKeys {
            let usesSettings = masterKeyFiles.isEmpty
            do {
                let keys = try MasterKeys(files: masterKeyFiles, else: settings.masterKey)
                _ = try keys.keyring(opening: dataKeys, at: clock.now)
                return keys
            } catch let error as MerchantError {
                throw MerchantError(
                    .masterKeyConflict,
                    "the master key of \(usesSettings ? option : "--master-key-file") does not open \(source.name): \(error.detail); \(usesSettings ? advice : "name the master key of the daemon that uses this database")"
                )
            }
        }
        let adviceForTarget =
            if case .file(let old) = from.masterKey.current, case .file(let new) = to.masterKey.current, old != new {
                "copy the file \(old) to \(new), with mode 0600 and for the daemon's user"
            } else {
                "name the same master key in both settings files"
            }
        _ = try checked(from, "--from", advice: "correct the settings under 'master-key'")
        return try checked(to, "--to", advice: adviceForTarget)
    }
}

// MARK: - Verification

extension StoreCopy {
    /// Unseals every private key and account number, and verifies the audit chain.
    ///
    /// - Returns: the result, and the open store.
    private func verify(
        _ target: any CopyTarget, _ masterKeys: MasterKeys
    ) async throws -> (BackupContentVerifier, any DaemonStore) {
        let (store, faults) = try await target.open()
        do {
            var verifier = BackupContentVerifier()
            for fault in faults { verifier.note(fault) }
            let custody = KeyCustody(
                keyring: try masterKeys.keyring(opening: store, at: clock.now), cache: UnsealedKeyCache()
            ) { _ in
                // Reads a key pair from the store. Never called: the verifier gives `KeyCustody` every key pair.
                nil
            }
            // The verifier may read everything, and has no method for writing.
            let records = BackupContentVerifier.Records(store, reads: { $0 }, writes: { _ in })
            try await verifier.examine(records, with: custody)
            return (verifier, store)
        } catch {
            target.close(store)
            throw error
        }
    }
}
