import Glibc
import MerchantCore

/// The checks of `merchantkeyctl diagnose`: files, database, keys and settings, whether the daemon runs or not. Changes
/// nothing.
struct Diagnosis {
    enum Outcome: String, Encodable { case success, warning, failure }

    struct Check: Encodable {
        let name: String
        let outcome: Outcome
        let detail: String
        /// The code of the ``StartFinding`` that the check reports; nil if it reports none.
        var code: String?

        /// The check in one line, for the operator.
        var text: String { "\(name): \(detailWithCode)" }

        var detailWithCode: String { "\(detail)\(code.map { " [\($0)]" } ?? "")" }
    }

    private static let settingsCheck = "settings"
    static let startCheck = "next start"
    static let responseCheck = "response"
    static let masterKeyCheck = "master key fits"

    let settings: Settings
    let clock: any WallClock
    private(set) var checks: [Check] = []

    /// Whether there is a warning that changes the exit status: a setting does not work, something could not be
    /// checked, the next start would log a finding, or the running daemon does not serve all requests.
    var warnsOfService: Bool {
        let names = [Self.settingsCheck, Self.startCheck, Self.responseCheck]
        return checks.contains { names.contains($0.name) && $0.outcome == .warning }
    }

    init(settings: Settings, clock: any WallClock) {
        self.settings = settings
        self.clock = clock
    }

    /// Adds a check to the report.
    mutating func note(_ name: String, _ outcome: Outcome, _ detail: String, code: String? = nil) {
        checks.append(Check(name: name, outcome: outcome, detail: detail, code: code))
    }

    mutating func run() async {
        let prepared = checkSettings()
        checkDirectory()
        let daemonProcess = checkDaemon()
        for (name, path) in [("database", settings.databasePath), ("claims", settings.claimsPath)] {
            // Before the first start, the files do not exist.
            checkFile(name, path, isRequired: false)
            for suffix in ["-wal", "-shm"] where access(path + suffix, F_OK) == 0 {
                checkFile("\(name)\(suffix)", path + suffix, isRequired: true)
            }
        }
        if case .file(let path) = settings.masterKey.current {
            checkFile(
                "master key", path, isRequired: access(settings.databasePath, F_OK) == 0, mayBelongToRoot: true,
                followsLinks: true)
        }
        await checkDatabase()
        checkClaims()
        checkSocket("admin socket", settings.adminSocket, isDaemonRunning: daemonProcess != nil)
        checkSocket("decryptor socket", settings.decryptorSocket, isDaemonRunning: daemonProcess != nil)
        if settings.provisioning != nil {
            checkSocket("issuer socket", settings.issuerSocket, isDaemonRunning: daemonProcess != nil)
        }
        checkSpace("disk space", settings.stateDirectory)
        if let backup = settings.backup { checkSpace("disk space for backups", backup.directory) }
        checkProcess(daemonProcess)
        if let daemonProcess { checkResponse(of: daemonProcess) }
        await checkStart(prepared)
    }

    /// Checks the settings and the files that they name. The other checks cover the database and the state directory.
    ///
    /// - Returns: nil if a start would refuse the settings.
    private mutating func checkSettings() -> PreparedStart? {
        do {
            let prepared = try PreparedStart(settings, for: .check(runsCommands: false))
            for warning in prepared.warnings { note(Self.settingsCheck, .warning, warning) }
            if prepared.warnings.isEmpty {
                note(Self.settingsCheck, .success, "valid, and the files they name can be read")
            }
            return prepared
        } catch {
            for problem in (error as? SettingsError)?.problems ?? ["\(error)"] {
                note(Self.settingsCheck, .failure, problem)
            }
            return nil
        }
    }

    static func detail(of error: any Error) -> String { (error as? MerchantError)?.detail ?? "\(error)" }
}
