import ArgumentParser
import Vocabulary

struct ConfigCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config-check", abstract: "Read the settings as the daemon would.", shouldDisplay: false)

    @OptionGroup var place: PlaceOptions
    @OptionGroup var report: ReportOptions

    private struct Outcome: Encodable {
        let stateDirectory: String
        let masterKey: String
        let adminSocket: String
        let decryptorSocket: String
    }

    func run() async throws {
        let settings = try place.settings()
        try Daemon.judgeFiles(settings)
        try report.show(
            Outcome(
                stateDirectory: settings.stateDirectory, masterKey: "\(settings.masterKey.current)",
                adminSocket: settings.adminSocket.path, decryptorSocket: settings.decryptorSocket.path),
            [
                ("settings", place.config ?? "none: for one user"),
                ("environment", settings.environment.rawValue),
                ("state directory", settings.stateDirectory),
                ("master key", "\(settings.masterKey.current)"),
                ("previous master key", settings.masterKey.previous.map { "\($0)" } ?? "-"),
                ("admin socket", settings.adminSocket.path),
                ("decryptor socket", settings.decryptorSocket.path),
                ("audit head file", settings.auditHead.file ?? "-"),
                ("audit head syslog", settings.auditHead.syslog ?? "-"),
                ("backups", settings.backup.map { "\($0.directory), every \($0.every), \($0.keep) kept" } ?? "-"),
            ])
    }
}
