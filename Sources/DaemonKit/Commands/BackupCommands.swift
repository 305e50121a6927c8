import AdminServer
import ArgumentParser
import MerchantCore
import MerchantStore
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
        let drill = try await BackupTrial(masterKeys: masterKeys, clock: SystemClock())
            .run(onCopyOf: file)
        try report.show(BackupDrillDocument(drill, file: file), drill.lines)
        guard drill.findings.isEmpty else { throw NotGood() }
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
        let drill: BackupDrillDocument
        let stateDirectory: String
        let aside: String?
        let undone: UndoneDocument
    }

    func run() async throws {
        let settings = try place.settings()
        let masterKeys = MasterKeys(files: masterKeyFile) ?? MasterKeys(settings.masterKey)
        let restore = Restore(
            settings: settings, file: file, replaces: replace, acceptsFindings: acceptFindings,
            masterKeys: masterKeys, clock: SystemClock())
        let done = try await restore.run()
        var lines = done.drill.lines
        lines.append(("restored to", settings.databasePath))
        if let aside = done.aside { lines.append(("old database", "moved aside to \(aside)")) }
        lines += done.undone.lines(since: done.drill.manifest.createdAt)
        lines.append(("next", "start merchantkeyd; it records the restore"))
        try report.show(
            Outcome(
                drill: BackupDrillDocument(done.drill, file: file), stateDirectory: settings.stateDirectory,
                aside: done.aside, undone: UndoneDocument(done.undone)), lines)
    }
}

extension BackupDrill {
    fileprivate var lines: [(name: String, value: String)] {
        [
            ("backup", findings.isEmpty ? "good" : "NOT GOOD"),
            ("made (UTC)", manifest.createdAt.rfc3339),
            ("merchants", "\(manifest.merchants)"),
            ("key pairs proven", "\(keyPairsProven)"),
            ("certificates checked", "\(certificatesChecked)"),
            ("audit records checked", "\(auditRecordsChecked)"),
            ("audit head", manifest.auditHead?.description ?? "-"),
            ("seconds", "\(seconds)"),
        ] + findings.map { ("finding", $0) }
    }
}
