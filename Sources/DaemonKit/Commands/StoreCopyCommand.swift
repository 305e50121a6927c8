import ArgumentParser
import FoundationEssentials
import MerchantCore

struct StoreCopyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store-copy", abstract: "Copy the data from SQLite to PostgreSQL or back.", shouldDisplay: false)

    @Option(help: "The settings file of the daemon that has the data.") var from: String
    @Option(help: "The settings file of the daemon that gets the data.") var to: String
    @Option(help: "The file of a master key; repeat the option if several are needed. Default: as in the settings.")
    var masterKeyFile: [String] = []
    @OptionGroup var report: ReportOptions

    func run() async throws {
        let (from, to) = try settingsAsDaemon()
        var copy = StoreCopy(from: from, to: to, masterKeyFiles: masterKeyFile, clock: SystemClock())
        // Standard output has only the result.
        if report.output == .table { copy.report = { StandardError.write("\($0)\n") } }
        let result = try await copy.run()
        let next = result.findings.isEmpty ? StoreCopyAdvice.steps(from: from, to: to, settings: self.to) : []
        try report.show(StoreCopyDocument(result, next: next), result.lines + next.map { ("next", $0) })
        guard result.findings.isEmpty else { throw ChecksFailed() }
    }

    /// Both settings. If this process is root, it continues as the owner of the state directory of `--from`.
    ///
    /// - Throws: ``SettingsError``.
    private func settingsAsDaemon() throws -> (from: Settings, to: Settings) {
        // A variable such as MERCHANTKEYD_STORE_KIND would override both files.
        let variables = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix(EnvironmentNames.prefix) }
        func read() throws -> (from: Settings, to: Settings) {
            (
                try Settings.read(file: from, stateDirectory: nil, environment: variables),
                try Settings.read(file: to, stateDirectory: nil, environment: variables)
            )
        }
        let found = try read()
        let directory = found.from.stateDirectory
        guard try FileOwner.become(of: directory, reading: [from, to] + masterKeyFile) else { return found }
        return try read()
    }
}
