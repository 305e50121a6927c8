import AdminServer
import ArgumentParser
import MerchantCore
import SQLiteStore
import Vocabulary
import WireAPI

struct BackupVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup-verify",
        abstract: "Verify a backup: restore a copy, unseal every key and check the audit.",
        shouldDisplay: false)

    @Argument var file: String
    @Option(
        help: "The file of a master key; repeat the option if the backup needs several. Default: as in the settings.")
    var masterKeyFile: [String] = []
    @OptionGroup var settingsOptions: SettingsOptions
    @OptionGroup var report: ReportOptions

    func run() async throws {
        let verification = try await BackupVerification(masterKeys: masterKeys(), clock: SystemClock())
            .run(onCopyOf: file)
        try report.show(BackupVerificationDocument(verification, file: file), verification.lines)
        guard verification.findings.isEmpty else { throw ChecksFailed() }
    }

    /// The master keys from the option or the settings.
    ///
    /// If this process is root, it continues as the owner of the first `--master-key-file`. Without this option, it
    /// continues as the owner of the state directory, which is the daemon's user.
    private func masterKeys() throws -> MasterKeys {
        guard let keyFile = masterKeyFile.first else {
            return try MasterKeys(files: [], else: settingsOptions.settingsAsDaemon(reading: [file]).masterKey)
        }
        try FileOwner.become(of: keyFile, reading: [file] + masterKeyFile)
        return try MasterKeys(files: masterKeyFile, else: settingsOptions.settings().masterKey)
    }
}

struct BackupRestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup-restore", abstract: "Replace the database by a backup.", shouldDisplay: false)

    @Argument var file: String
    @Flag(help: "Replace an existing database. Its data is kept, in another directory or PostgreSQL schema.")
    var replace = false
    @Flag(help: "Restore the backup even if its verification fails. Use this only if there is no other backup.")
    var acceptFindings = false
    @Option(
        help: "The file of a master key; repeat the option if the backup needs several. Default: as in the settings.")
    var masterKeyFile: [String] = []
    @OptionGroup var settingsOptions: SettingsOptions
    @OptionGroup var report: ReportOptions

    private struct Outcome: Encodable {
        let verification: BackupVerificationDocument
        let stateDirectory: String
        /// The directory, or the schema of a PostgreSQL database, that contains the old database now; absent if there
        /// was none.
        let aside: String?
        /// The changes since the backup, which the restore has reverted.
        let undone: RevertedChangesDocument
    }

    func run() async throws {
        let settings = try settingsOptions.settingsAsDaemon(reading: [file] + masterKeyFile)
        let masterKeys = try MasterKeys(files: masterKeyFile, else: settings.masterKey)
        if let postgresql = settings.store.postgresql {
            let restored = try await PostgresRestore(
                settings: settings, postgresql: postgresql, file: file, replaces: replace,
                acceptsFindings: acceptFindings, masterKeys: masterKeys, clock: SystemClock(),
                reportOldSchema: { StandardError.write("the old data is in the schema \($0) of the database now\n") }
            ).run()
            let database = "the PostgreSQL database \(restored.database)"
            try show(
                settings, restored.verification, restored.undone, target: database, aside: restored.oldSchema,
                notes: restored.oldSchema == nil
                    ? [
                        (
                            "claims",
                            "a backup contains no claims, so tokens of the last ten minutes could be claimed again: for ten minutes after the start, compare the transactionId of each payment with your own records"
                        )
                    ] : [])
        } else {
            let restored = try await Restore(
                settings: settings, file: file, replaces: replace, acceptsFindings: acceptFindings,
                masterKeys: masterKeys, clock: SystemClock()
            ).run()
            try show(
                settings, restored.verification, restored.undone, target: settings.databasePath,
                aside: restored.oldDatabaseDirectory, notes: [])
        }
    }

    private func show(
        _ settings: Settings, _ verification: BackupVerificationResult, _ undone: RevertedChanges, target: String,
        aside: String?, notes: [(name: String, value: String)]
    ) throws {
        var lines = verification.lines
        lines.append(("restored to", target))
        if let aside {
            lines.append(
                ("old database", settings.store.postgresql == nil ? "moved to \(aside)" : "in the schema \(aside)"))
        }
        lines += undone.lines(since: verification.manifest.createdAt) + notes
        lines.append(("next", "start merchantkeyd, which records the restore in the audit"))
        if settings.store.postgresql != nil {
            lines.append(("then", "start every other daemon on the database once with --accept-older-database"))
        }
        try report.show(
            Outcome(
                verification: BackupVerificationDocument(verification, file: file),
                stateDirectory: settings.stateDirectory, aside: aside, undone: RevertedChangesDocument(undone)), lines)
    }
}

extension BackupVerificationResult {
    fileprivate var lines: [(name: String, value: String)] {
        [
            ("backup", findings.isEmpty ? "good" : "not good"),
            ("created (UTC)", manifest.createdAt.rfc3339),
            ("merchants", "\(manifest.merchants)"),
            ("key pairs verified", "\(keyPairsVerified)"),
            ("certificates checked", "\(certificatesChecked)"),
            ("audit records checked", "\(auditRecordsChecked)"),
            ("audit head", manifest.auditHead?.description ?? "-"),
            ("duration (seconds)", "\(seconds)"),
        ] + findings.map { ("finding", $0) }
    }
}
