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

    private static let failure = "a backup cannot be verified"

    /// Root acts as the owner of the master key: without a file on the command line, that is the daemon's user.
    private func masterKeys() throws -> MasterKeys {
        guard let keyFile = masterKeyFile.first else {
            return try MasterKeys(
                files: [], else: settingsOptions.settingsAsDaemon(reading: [file]).onlyOnSQLite(Self.failure).masterKey)
        }
        try FileOwner.become(of: keyFile, reading: [file] + masterKeyFile)
        return try MasterKeys(
            files: masterKeyFile, else: settingsOptions.settings().onlyOnSQLite(Self.failure).masterKey)
    }
}

struct BackupRestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup-restore", abstract: "Replace the database by a backup.", shouldDisplay: false)

    @Argument var file: String
    @Flag(help: "Move an existing database to another directory.") var replace = false
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
        /// The directory that contains the old database now; absent if there was none.
        let aside: String?
        let undone: RevertedChangesDocument
    }

    func run() async throws {
        let settings = try settingsOptions.settingsAsDaemon(reading: [file] + masterKeyFile)
            .onlyOnSQLite("a backup cannot be restored")
        let masterKeys = try MasterKeys(files: masterKeyFile, else: settings.masterKey)
        let restore = Restore(
            settings: settings, file: file, replaces: replace, acceptsFindings: acceptFindings,
            masterKeys: masterKeys, clock: SystemClock())
        let restored = try await restore.run()
        var lines = restored.verification.lines
        lines.append(("restored to", settings.databasePath))
        if let directory = restored.oldDatabaseDirectory { lines.append(("old database", "moved to \(directory)")) }
        lines += restored.undone.lines(since: restored.verification.manifest.createdAt)
        lines.append(("next", "start merchantkeyd, which records the restore in the audit"))
        try report.show(
            Outcome(
                verification: BackupVerificationDocument(restored.verification, file: file),
                stateDirectory: settings.stateDirectory,
                aside: restored.oldDatabaseDirectory, undone: RevertedChangesDocument(restored.undone)), lines)
    }
}

extension BackupVerificationResult {
    fileprivate var lines: [(name: String, value: String)] {
        [
            ("backup", findings.isEmpty ? "verified" : "VERIFICATION FAILED"),
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
