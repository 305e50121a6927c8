import ArgumentParser
import Vocabulary

/// Hidden in the help, because operators run `merchantkeyctl config check`, which runs this command.
struct ConfigCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config-check", abstract: "Validate the settings and the files that they name.",
        shouldDisplay: false)

    @OptionGroup var settingsOptions: SettingsOptions
    @OptionGroup var report: ReportOptions

    private struct Outcome: Encodable {
        let stateDirectory: String
        let masterKey: String
        let adminSocket: String
        let decryptorSocket: String
        /// The settings that the configuration file or environment variables set.
        let settings: [String: String]
    }

    func run() async throws {
        let settings = try settingsOptions.settings()
        _ = try ReferencedFiles(reading: settings)
        let explicitSettings = settings.explicitlySet
        try report.show(
            Outcome(
                stateDirectory: settings.stateDirectory, masterKey: "\(settings.masterKey.current)",
                adminSocket: settings.adminSocket.path, decryptorSocket: settings.decryptorSocket.path,
                settings: Dictionary(
                    explicitSettings.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })),
            [
                (
                    "configuration file",
                    settingsOptions.config
                        ?? "none: the defaults apply, with which the daemon serves only root and the user that runs it"
                ),
                ("environment", settings.environment.rawValue),
                ("state directory", settings.stateDirectory),
                ("master key", "\(settings.masterKey.current)"),
                ("previous master key", settings.masterKey.previous.map { "\($0)" } ?? "-"),
                ("admin socket", settings.adminSocket.path),
                ("decryptor socket", settings.decryptorSocket.path),
            ] + explicitSettings.map { ("set: \($0.name)", $0.value) })
    }
}
