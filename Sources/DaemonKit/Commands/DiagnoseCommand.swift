import ArgumentParser
import MerchantCore

struct DiagnoseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diagnose", abstract: "Check files, database, keys and settings; works with the daemon stopped.",
        shouldDisplay: false)

    @OptionGroup var settingsOptions: SettingsOptions
    @OptionGroup var report: ReportOptions

    private struct Outcome: Encodable { let checks: [Diagnosis.Check] }

    func run() async throws {
        var diagnosis: Diagnosis
        do {
            let settings = try settingsOptions.settingsAsDaemon()
            guard settings.store.postgresql == nil else {
                throw SettingsError(
                    "'store.kind' is postgresql, and only the files of a SQLite database can be diagnosed: run 'merchantkeyctl config check' and 'merchantkeyctl status', and read the server's log"
                )
            }
            diagnosis = Diagnosis(settings: settings, clock: SystemClock())
            await diagnosis.run()
        } catch let error as SettingsError {
            let checks = error.problems.map { Diagnosis.Check(name: "settings", outcome: .failure, detail: $0) }
            try report.show(Outcome(checks: checks), checks.map { ("failure", $0.text) })
            throw ChecksFailed()
        }
        try report.show(
            Outcome(checks: diagnosis.checks),
            diagnosis.checks.map { ($0.outcome.rawValue, $0.text) })
        guard !diagnosis.checks.contains(where: { $0.outcome == .failure }) else { throw ChecksFailed() }
        guard !diagnosis.warnsOfService else { throw ChecksFailed(status: ConfigCheckCommand.warningStatus) }
    }
}
