import ArgumentParser
import MerchantCore

struct DiagnoseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diagnose", abstract: "Look at everything the daemon stands on, whether it runs or not.",
        shouldDisplay: false)

    @OptionGroup var place: PlaceOptions
    @OptionGroup var report: ReportOptions

    private struct Outcome: Encodable { let checks: [Diagnosis.Check] }

    func run() async throws {
        var diagnosis: Diagnosis
        do {
            diagnosis = Diagnosis(settings: try place.settings(), clock: SystemClock())
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
