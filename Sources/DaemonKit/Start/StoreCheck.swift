import KeyCustody
import MerchantCore
import PostgresStore
import SQLiteStore
import Vocabulary

/// Finds out for `config check` whether a start would be refused because of its database: whether the daemon can open
/// it, what ``StartDecision`` decides, and whether the master key fits. Changes nothing. A daemon may run meanwhile.
struct StoreCheck {
    let settings: Settings
    /// Whether the check runs the commands that print master keys.
    let runsCommands: Bool

    /// - Returns: what is known about the database, for the operator.
    func run(_ findings: inout PreparationFindings) async -> String {
        do {
            switch settings.store {
            case .sqlite: return try await checkFiles(&findings)
            case .postgresql(let postgresql): return try await checkServer(postgresql, &findings)
            }
        } catch {
            findings.refuse(error)
            return ""
        }
    }

    private func checkFiles(_ findings: inout PreparationFindings) async throws -> String {
        let path = settings.databasePath
        var forecast = try StartForecast(onFilesOf: settings)
        guard forecast.observation.hasDatabaseContent else {
            report(forecast, &findings)
            return "\(path), which the first start creates"
        }
        // A start decides about the files before it opens them.
        guard report(forecast, &findings) else { return "" }
        try DatabaseInspection.requireUsableFiles(at: path)
        let content: StartContent
        do {
            content = try DatabaseInspection.read(from: path) { try StartContent($0, dataKeys: $1) }
        } catch is DatabaseInspection.SetupUnfinished {
            return "\(path), whose first start was interrupted; the next start completes it"
        }
        await forecast.addContent(content)
        return decide(&forecast, content, path, &findings)
    }

    private func checkServer(
        _ postgresql: PostgreSQLSettings, _ findings: inout PreparationFindings
    ) async throws -> String {
        let name = postgresql.connection.databaseName
        var forecast = StartForecast(onServerOf: settings, postgresql)
        guard let database = try PostgresDatabase.check(postgresql.connection) else {
            report(forecast, &findings)
            return "\(name), in which the first start creates the schema"
        }
        let content = try database.readWithDataKeys { try StartContent($0, dataKeys: $1) }
        try await forecast.addContent(content, of: database, postgresql)
        return decide(&forecast, content, name, &findings)
    }

    /// Reports what a start with this content would find.
    private func decide(
        _ forecast: inout StartForecast, _ content: StartContent, _ name: String,
        _ findings: inout PreparationFindings
    ) -> String {
        if let failure = forecast.comparisonFailure { findings.refuse(failure) }
        let isOpened = openKeys(content, &forecast, &findings)
        report(forecast, &findings)
        return isOpened ? "\(name), which the master key opens" : name
    }

    /// - Returns: whether the master key opened the database. False also if this process cannot load the key, which
    ///   ``MasterKeyCheck`` has reported.
    private func openKeys(
        _ content: StartContent, _ forecast: inout StartForecast, _ findings: inout PreparationFindings
    ) -> Bool {
        let keys = MasterKeys(settings.masterKey)
        let loadable = MasterKeys(
            sources: keys.sources.filter { $0.reasonNotChecked == nil && (runsCommands || !$0.isCommand) })
        guard !content.dataKeys.isEmpty, forecast.observation.missingMasterKeyFinding == nil,
            loadable.sources.first == keys.sources.first
        else { return false }
        do {
            _ = try loadable.keyring(opening: InspectedDataKeys(content.dataKeys), at: SystemClock().now)
            return true
        } catch {
            let why = PreparationFindings.texts(of: error).joined(separator: "; ")
            if loadable.sources == keys.sources {
                forecast.rejectMasterKey(why)
            } else {
                findings.warn(
                    "the key in 'master-key' alone does not open the database, and the key in 'master-key.previous' was not checked: \(why)"
                )
            }
            return false
        }
    }

    /// Reports the findings for which a start is refused, and a changed environment, which is a setting. `diagnose`
    /// reports the other findings, with which the daemon starts.
    ///
    /// - Returns: whether the daemon would start.
    @discardableResult
    private func report(_ forecast: StartForecast, _ findings: inout PreparationFindings) -> Bool {
        switch StartDecision(on: forecast.observation, acceptsOlderDatabase: false) {
        case .refuse(let refusals):
            for finding in refusals { findings.refuse(finding.text) }
            return false
        case .open(_, let warnings):
            for finding in warnings where finding.code == .environmentChanged { findings.warn(finding.text) }
            return true
        }
    }
}

extension StartFinding {
    /// The message with the code, as a start prints it.
    fileprivate var text: String { "\(message) [\(code.rawValue)]" }
}
