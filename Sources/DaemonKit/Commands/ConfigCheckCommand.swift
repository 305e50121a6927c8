import ArgumentParser
import KeyCustody
import Vocabulary

/// Hidden in the help, because operators run `merchantkeyctl config check`, which runs this command.
struct ConfigCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config-check",
        abstract: "Check whether the daemon would start, and print every setting.",
        discussion: """
            Exit status: 0 if the daemon would start; 1 if it would refuse to start; \(warningStatus) if no reason \
            to refuse was found, but there is a warning: something does not work or could not be checked.
            """,
        shouldDisplay: false)

    /// The exit status if there are warnings, but no problem.
    static let warningStatus: Int32 = 4

    @OptionGroup var settingsOptions: SettingsOptions
    @OptionGroup var report: ReportOptions

    @Flag(help: "Run the commands of the settings master-key.command and master-key.previous.command, as a start does.")
    var runCommands = false

    func run() async throws {
        let checked: CheckedStart
        do {
            checked = try await CheckedStart(settingsOptions.settingsAsDaemon(), runsCommands: runCommands)
        } catch let error as SettingsError {
            if report.output == .json { try report.show(Outcome(problems: error.problems), []) }
            throw error
        }
        try report.show(
            Outcome(checked, configurationFile: settingsOptions.config), lines(of: checked))
        guard checked.warnings.isEmpty else { throw ChecksFailed(status: Self.warningStatus) }
    }

    private func lines(of checked: CheckedStart) -> [(name: String, value: String)] {
        let prepared = checked.prepared
        let file =
            settingsOptions.config
            ?? "none: the defaults apply, with which the daemon serves only root and the user that runs it"
        return [("configuration file", file)]
            + prepared.settings.inForce.map { ($0.name, "\($0.value)  (\($0.origin.rawValue))") }
            + [
                ("master key", prepared.masterKeyDescription),
                ("database", checked.database),
                ("issuers of certificates", prepared.certificateIssuers),
            ] + checked.notes.map { ("note", $0) } + checked.warnings.map { ("warning", $0) }
    }
}

extension ConfigCheckCommand {
    /// The settings and the database, if the daemon would start with them.
    private struct CheckedStart {
        let prepared: PreparedStart
        /// The database and whether the master key opens it, as text for the operator.
        let database: String
        let warnings: [String]
        let notes: [String]

        /// - Throws: ``SettingsError`` with every problem of the settings and files. If there is none, with every
        ///   problem of the ports and the database.
        init(_ settings: Settings, runsCommands: Bool) async throws {
            prepared = try PreparedStart(settings, for: .check(runsCommands: runsCommands))
            var findings = PreparationFindings()
            database = await StartCheck(
                prepared: prepared, masterKeyChecking: runsCommands ? .withCommands : .withoutCommands
            ).run(&findings)
            guard findings.problems.isEmpty else { throw SettingsError(problems: findings.problems) }
            warnings = prepared.warnings + findings.warnings
            notes = findings.notes
        }
    }

    /// The result as JSON.
    private struct Outcome: Encodable {
        struct Value: Encodable {
            let value: String
            let origin: String
        }

        /// Why the daemon would refuse to start; empty if it would start.
        var problems: [String] = []
        /// What does not work or could not be checked, although the daemon would start.
        var warnings: [String] = []
        /// What the operator should know although nothing is wrong.
        var notes: [String] = []
        var configurationFile: String?
        var masterKey: String?
        var database: String?
        var certificateIssuers: String?
        /// Every setting, by its name.
        var settings: [String: Value]?

        init(problems: [String]) { self.problems = problems }

        init(_ checked: CheckedStart, configurationFile: String?) {
            let prepared = checked.prepared
            (warnings, notes) = (checked.warnings, checked.notes)
            database = checked.database
            self.configurationFile = configurationFile
            masterKey = prepared.masterKeyDescription
            certificateIssuers = prepared.certificateIssuers
            settings = Dictionary(
                prepared.settings.inForce.map { ($0.name, Value(value: $0.value, origin: $0.origin.rawValue)) },
                uniquingKeysWith: { first, _ in first })
        }
    }
}

extension PreparedStart {
    /// The issuers whose certificates the daemon accepts, as text for the operator.
    fileprivate var certificateIssuers: String {
        guard let issuers = files.certificateIssuers else {
            return "not checked, because 'trust.certificate-issuers' is not set"
        }
        let name = "Apple Worldwide Developer Relations CA - G2"
        return issuers.containsApplePaymentProcessingIssuer
            ? "include \(name), SHA-256 \(CertificateIssuers.applePaymentProcessingIssuer)"
            : "do not include \(name), with which Apple issues payment processing certificates"
    }
}
