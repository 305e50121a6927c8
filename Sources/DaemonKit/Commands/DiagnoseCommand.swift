import ArgumentParser
import Glibc
import MerchantCore

struct DiagnoseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diagnose", abstract: "Look at everything the daemon stands on, whether it runs or not.",
        shouldDisplay: false)

    @OptionGroup var place: PlaceOptions
    @OptionGroup var report: ReportOptions

    private struct Outcome: Encodable { let checks: [Diagnosis.Check] }

    /// Root sees what the daemon's user would: whose files it is to be is told by the state directory.
    private static func becomeOwner(of directory: String) {
        var found = stat()
        guard geteuid() == 0, stat(directory, &found) == 0, found.st_uid != 0 else { return }
        _ = setegid(found.st_gid)
        _ = seteuid(found.st_uid)
    }

    func run() async throws {
        var diagnosis: Diagnosis
        do {
            let settings = try place.settings()
            Self.becomeOwner(of: settings.stateDirectory)
            diagnosis = Diagnosis(settings: settings, clock: SystemClock())
            await diagnosis.run()
        } catch let error as SettingsError {
            let check = Diagnosis.Check(name: "settings", outcome: .failure, detail: error.description)
            try report.show(Outcome(checks: [check]), [("failure", "settings: \(error.description)")])
            throw NotGood()
        }
        try report.show(
            Outcome(checks: diagnosis.checks),
            diagnosis.checks.map { ($0.outcome.rawValue, "\($0.name): \($0.detail)") })
        guard !diagnosis.checks.contains(where: { $0.outcome == .failure }) else { throw NotGood() }
    }
}
