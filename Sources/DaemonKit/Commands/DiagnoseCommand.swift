import ArgumentParser
import Glibc
import MerchantCore

struct DiagnoseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diagnose", abstract: "Check files, database, keys and settings; works with the daemon stopped.",
        shouldDisplay: false)

    @OptionGroup var settingsOptions: SettingsOptions
    @OptionGroup var report: ReportOptions

    private struct Outcome: Encodable { let checks: [Diagnosis.Check] }

    /// If this process is root, switches to the owner of the state directory, because the checks must find what the
    /// daemon's user would find. Ignores a failure: the checks then run as root.
    private static func becomeOwner(of directory: String) {
        guard geteuid() == 0, let found = FileStatus(of: directory, followsLinks: true), found.uid != 0 else { return }
        _ = setegid(found.gid)
        _ = seteuid(found.uid)
    }

    func run() async throws {
        var diagnosis: Diagnosis
        do {
            let settings = try settingsOptions.settings()
            Self.becomeOwner(of: settings.stateDirectory)
            diagnosis = Diagnosis(settings: settings, clock: SystemClock())
            await diagnosis.run()
        } catch let error as SettingsError {
            let check = Diagnosis.Check(name: "settings", outcome: .failure, detail: error.description)
            try report.show(Outcome(checks: [check]), [("failure", "settings: \(error.description)")])
            throw ChecksFailed()
        }
        try report.show(
            Outcome(checks: diagnosis.checks),
            diagnosis.checks.map { ($0.outcome.rawValue, "\($0.name): \($0.detail)") })
        guard !diagnosis.checks.contains(where: { $0.outcome == .failure }) else { throw ChecksFailed() }
    }
}
