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

/// What a restore takes back, for programs.
private struct UndoneDocument: Encodable {
    struct Key: Encodable {
        let publicKeyHash: String
        let merchantIdentifier: String
        /// In the old database.
        let was: String
        /// Now; absent where it is not there.
        let now: String?
    }

    /// Why nothing is known; absent where all is.
    private(set) var unknownBecause: String?
    private(set) var answeringAgainCount: Int?
    private(set) var answeringAgain: [Key] = []
    private(set) var missingCount: Int?
    private(set) var missing: [Key] = []
    private(set) var undestroyedCount: Int?
    private(set) var undestroyed: [Key] = []

    init(_ undone: Restore.Undone) {
        switch undone {
        case .unknown(let why): unknownBecause = why
        case .known(let difference):
            answeringAgainCount = difference.answeringAgainCount
            answeringAgain = difference.answeringAgain.map(Key.init)
            missingCount = difference.missingCount
            missing = difference.missing.map(Key.init)
            undestroyedCount = difference.undestroyedCount
            undestroyed = difference.undestroyed.map(Key.init)
        }
    }
}

extension UndoneDocument.Key {
    init(_ change: DatabaseDifference.Change) {
        self.init(
            publicKeyHash: change.publicKeyHash.base64, merchantIdentifier: change.merchantIdentifier.rawValue,
            was: change.newer.rawValue, now: change.older?.rawValue)
    }
}

extension Restore.Undone {
    fileprivate func lines(since backup: Timestamp) -> [(name: String, value: String)] {
        switch self {
        case .unknown:
            return [
                ("undone", summary),
                (
                    "look for",
                    "keyRevoked and keyDestroyed after \(backup) in an exported audit, in events that webhooks got, and in the shipped audit heads how many records are gone; revoke again what was revoked"
                ),
            ]
        case .known(let difference):
            guard difference.summary != nil else {
                return [("undone", "no key pair: each is as the old database had it")]
            }
            func named(
                _ name: String, _ changes: [DatabaseDifference.Change], _ count: Int,
                _ words: (DatabaseDifference.Change) -> String
            ) -> [(name: String, value: String)] {
                changes.map { (name, "\($0.publicKeyHash) of \($0.merchantIdentifier), \(words($0))") }
                    + (count > changes.count ? [(name, "and \(count - changes.count) more")] : [])
            }
            return named("ANSWERS AGAIN", difference.answeringAgain, difference.answeringAgainCount) {
                "was \($0.newer.rawValue), is \($0.older?.rawValue ?? "-"): revoke it again, unless it was by mistake"
            }
                + named("is gone", difference.missing, difference.missingCount) {
                    "was \($0.newer.rawValue); its private key is in the old database alone"
                }
                + named("is back", difference.undestroyed, difference.undestroyedCount) { _ in
                    "its private key was destroyed, and is here again, sealed: destroy it again"
                }
        }
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
