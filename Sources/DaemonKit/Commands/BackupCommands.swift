import AdminServer
import ArgumentParser
import MerchantCore
import SQLiteStore
import Vocabulary
import WireAPI

struct BackupVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup-verify", abstract: "Restore a backup elsewhere and open everything in it.",
        shouldDisplay: false)

    @Argument var file: String
    @Option(help: "A master key, more than once where more are needed; default: the settings'.")
    var masterKeyFile: [String] = []
    @OptionGroup var place: PlaceOptions
    @OptionGroup var report: ReportOptions

    func run() async throws {
        let settings = try place.settings()
        let masterKeys = MasterKeys(files: masterKeyFile) ?? MasterKeys(settings.masterKey)
        let verification = try await BackupVerification(masterKeys: masterKeys, clock: SystemClock())
            .run(onCopyOf: file)
        try report.show(BackupVerificationDocument(verification, file: file), verification.lines)
        guard verification.findings.isEmpty else { throw NotGood() }
    }
}

struct BackupRestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup-restore", abstract: "Put a backup in the place of the database.", shouldDisplay: false)

    @Argument var file: String
    @Flag(help: "Move a database that is there aside.") var replace = false
    @Flag(help: "Restore a backup that is not good all the same: the last resort.") var acceptFindings = false
    @Option(help: "A master key, more than once where more are needed; default: the settings'.")
    var masterKeyFile: [String] = []
    @OptionGroup var place: PlaceOptions
    @OptionGroup var report: ReportOptions

    private struct Outcome: Encodable {
        let verification: BackupVerificationDocument
        let stateDirectory: String
        let aside: String?
        let undone: RevertedChangesDocument
    }

    func run() async throws {
        let settings = try place.settings()
        let masterKeys = MasterKeys(files: masterKeyFile) ?? MasterKeys(settings.masterKey)
        let restore = Restore(
            settings: settings, file: file, replaces: replace, acceptsFindings: acceptFindings,
            masterKeys: masterKeys, clock: SystemClock())
        let done = try await restore.run()
        var lines = done.verification.lines
        lines.append(("restored to", settings.databasePath))
        if let aside = done.aside { lines.append(("old database", "moved aside to \(aside)")) }
        lines += done.undone.lines(since: done.verification.manifest.createdAt)
        lines.append(("next", "start merchantkeyd; it records the restore"))
        try report.show(
            Outcome(
                verification: BackupVerificationDocument(done.verification, file: file),
                stateDirectory: settings.stateDirectory,
                aside: done.aside, undone: RevertedChangesDocument(done.undone)), lines)
    }
}

extension BackupVerificationResult {
    fileprivate var lines: [(name: String, value: String)] {
        [
            ("backup", findings.isEmpty ? "good" : "NOT GOOD"),
            ("made (UTC)", manifest.createdAt.rfc3339),
            ("merchants", "\(manifest.merchants)"),
            ("key pairs proven", "\(keyPairsVerified)"),
            ("certificates checked", "\(certificatesChecked)"),
            ("audit records checked", "\(auditRecordsChecked)"),
            ("audit head", manifest.auditHead?.description ?? "-"),
            ("seconds", "\(seconds)"),
        ] + findings.map { ("finding", $0) }
    }
}
