import KeyCustody
import MerchantCore
import PostgresStore
import SQLiteStore
import Vocabulary

/// Finds out whether a start would be refused because of its database: whether the daemon can open it, what
/// ``StartDecision`` decides, and whether the master key fits. Changes nothing. A daemon may run meanwhile.
struct StoreCheck {
    enum MasterKeyChecking {
        /// The caller checks the master key itself.
        case skipped
        case withoutCommands
        /// The check runs the commands that print master keys.
        case withCommands
    }

    let settings: Settings
    let masterKeyChecking: MasterKeyChecking
    private let locks: DatabaseLockCheck

    init(settings: Settings, masterKeyChecking: MasterKeyChecking) {
        self.settings = settings
        self.masterKeyChecking = masterKeyChecking
        locks = DatabaseLockCheck(stateDirectory: settings.stateDirectory)
    }

    private var runsCommands: Bool { masterKeyChecking == .withCommands }

    /// - Returns: one line about the database, for the operator. May be empty if `findings` refuse the start.
    func run(_ findings: inout PreparationFindings) async -> String {
        do {
            if let problem = InstanceLock.problem(ofFile: settings.lockPath) { findings.refuse(problem) }
            switch settings.store {
            case .sqlite:
                let description = try await checkFiles(&findings)
                try await checkClaims(&findings)
                return description
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
        // A start decides about the files before it opens them.
        if !forecast.observation.hasDatabaseContent { forecast.addMissingContent() }
        guard !refuse(forecast, &findings) else { return "" }
        guard forecast.observation.database != nil else {
            return try await checkEmpty(&forecast, "\(path) (does not exist; the first start creates it)", &findings)
        }
        try DatabaseInspection.requireUsableFiles(at: path)
        if let holder = try await locks.holder(of: path) {
            findings.refuse(
                "\(holder) has locked the database \(path), so the daemon cannot write to it; end this process")
            return ""
        }
        let interrupted = "\(path) (empty, because the first start was interrupted; the next start completes it)"
        func readContent() throws -> StartContent? {
            do {
                return try DatabaseInspection.read(from: path) { try StartContent($0, dataKeys: $1) }
            } catch is DatabaseInspection.SetupUnfinished { return nil }
        }
        guard forecast.observation.hasDatabaseContent, let content = try readContent() else {
            return try await checkEmpty(&forecast, interrupted, &findings)
        }
        await forecast.addContent(content)
        return try decide(&forecast, content, path, &findings, readAgain: readContent)
    }

    /// The daemon starts without its claims file, but then refuses requests that must record a claim. So a problem is
    /// only a warning.
    private func checkClaims(_ findings: inout PreparationFindings) async throws {
        let path = settings.claimsPath
        if let holder = try await locks.holder(of: path) {
            return findings.warn(
                "\(holder) has locked the claims file \(path), so the daemon refuses claims of payment tokens; end this process"
            )
        }
        do { try ClaimsFile.inspect(settings, wholeContent: false) } catch let error as MerchantError {
            findings.warn(ClaimsFile.warning(error.detail))
        }
    }

    private func checkServer(
        _ postgresql: PostgreSQLSettings, _ findings: inout PreparationFindings
    ) async throws -> String {
        let name = postgresql.connection.databaseName
        var forecast = StartForecast(onServerOf: settings, postgresql)
        guard let database = try PostgresDatabase.check(postgresql.connection) else {
            return try await checkEmpty(&forecast, "\(name) (empty; the first start creates the schema)", &findings)
        }
        func readContent() throws -> StartContent {
            try database.readWithDataKeys { try StartContent($0, dataKeys: $1) }
        }
        let content = try readContent()
        try await forecast.addContent(content, of: database, postgresql)
        guard !content.dataKeys.isEmpty else {
            return try await checkEmpty(&forecast, "\(name) (not used yet)", &findings)
        }
        return try decide(&forecast, content, name, &findings, readAgain: readContent)
    }

    /// Reports what a start would find if there is no database, or one without data keys.
    ///
    /// - Returns: `description`.
    private func checkEmpty(
        _ forecast: inout StartForecast, _ description: String, _ findings: inout PreparationFindings
    ) async throws -> String {
        forecast.addMissingContent()
        if let failure = forecast.comparisonFailure { findings.refuse(failure) }
        report(forecast, &findings)
        let current = settings.masterKey.current
        if current.isCommand, runsCommands {
            try MasterKeys(settings.masterKey).requireSameKeyEachTime(current.load())
        }
        warnUnlessRun(&findings)
        return description
    }

    /// Reports what a start with this content would find.
    ///
    /// - Parameter readAgain: returns the present content.
    private func decide(
        _ forecast: inout StartForecast, _ content: StartContent, _ name: String,
        _ findings: inout PreparationFindings, readAgain: () throws -> StartContent?
    ) throws -> String {
        if let failure = forecast.comparisonFailure { findings.refuse(failure) }
        var keys = openKeys(content.dataKeys, forecast)
        // A rotation that ended meanwhile has replaced the master key and removed a data key.
        if case .doNotFit = keys, let now = try readAgain() { keys = openKeys(now.dataKeys, forecast) }
        switch keys {
        case .open: break
        case .unknown: warnUnlessRun(&findings)
        case .failed(let why): findings.refuse(why)
        case .doNotFit(let why): forecast.rejectMasterKey(why)
        case .mayFit(let why):
            findings.warn(
                "the key in 'master-key' alone does not open the database, and the key in 'master-key.previous' was not checked: \(why); if it is a command, run 'config check --run-commands'"
            )
        }
        report(forecast, &findings)
        return "\(name) (\(keys == .open ? "the master key opens it" : "the master key was not checked"))"
    }

    /// Warns if the command that prints the master key was not run, so that the key was not checked.
    private func warnUnlessRun(_ findings: inout PreparationFindings) {
        let current = settings.masterKey.current
        guard current.isCommand, masterKeyChecking == .withoutCommands,
            InstanceLock.masterKeySource(inDirectory: settings.stateDirectory) != current.description
        else { return }
        findings.warn(
            "'master-key.command' was not run, so the master key was not checked; 'config check --run-commands' runs it"
        )
    }

    private enum Keys: Equatable {
        case open
        case doNotFit(String)
        /// This process did not load all keys, and those that it loaded do not open the database.
        case mayFit(String)
        /// No key was tried: the caller checks the master key itself, the command that prints it was not run, or
        /// another check reports that this process cannot load it.
        case unknown
        /// A key could not be loaded, or another error happened.
        case failed(String)
    }

    private func openKeys(_ dataKeys: [SealedDataKey], _ forecast: StartForecast) -> Keys {
        let keys = MasterKeys(settings.masterKey)
        let loadable = MasterKeys(
            sources: keys.sources.filter { $0.reasonUnreadableHere == nil && (runsCommands || !$0.isCommand) })
        guard masterKeyChecking != .skipped, forecast.observation.missingMasterKeyFinding == nil,
            loadable.sources.first == keys.sources.first
        else {
            return .unknown
        }
        do {
            _ = try loadable.keyring(opening: InspectedDataKeys(dataKeys), at: SystemClock().now)
            return .open
        } catch {
            let why = PreparationFindings.texts(of: error).joined(separator: "; ")
            guard loadable.sources == keys.sources else { return .mayFit(why) }
            return (error as? MerchantError)?.code == .masterKeyConflict ? .doNotFit(why) : .failed(why)
        }
    }

    /// Reports the findings for which a start is refused.
    ///
    /// - Returns: whether there is such a finding.
    private func refuse(_ forecast: StartForecast, _ findings: inout PreparationFindings) -> Bool {
        guard case .refuse(let refusals) = StartDecision(on: forecast.observation, acceptsOlderDatabase: false) else {
            return false
        }
        for finding in refusals { findings.refuse(finding.text) }
        return true
    }

    /// Reports the findings for which a start is refused. If there is none, reports those with which the daemon starts,
    /// as warnings or notes.
    private func report(_ forecast: StartForecast, _ findings: inout PreparationFindings) {
        guard !refuse(forecast, &findings),
            case .open(let losses, let warnings) = StartDecision(
                on: forecast.observation, acceptsOlderDatabase: false)
        else { return }
        for finding in losses + warnings {
            if finding.code.isExpectedOnce { findings.note(finding.text) } else { findings.warn(finding.text) }
        }
    }
}

extension StartFinding.Code {
    /// Whether a correct installation can have the finding before its first start, or before its first audit head.
    fileprivate var isExpectedOnce: Bool { self == .masterKeyWithoutDatabase || self == .noShippedHead }
}

extension StartFinding {
    /// The message with the code, as a start prints it.
    fileprivate var text: String { "\(message) [\(code.rawValue)]" }
}
