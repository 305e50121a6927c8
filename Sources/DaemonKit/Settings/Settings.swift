import Configuration
import Glibc
package import Logging
package import MerchantCore
package import MerchantOperations
package import Vocabulary

/// The settings of the daemon, read once from the file and the environment. They contain only valid values. For
/// settings that a reload replaces, ``LiveSettings`` has the present values.
package struct Settings: Sendable {
    let source: SettingsSource
    package let environment: Environment
    package let stateDirectory: String
    /// The value of `state-directory`, if the command line overrides it with another one; otherwise nil.
    let overriddenStateDirectory: String?
    package let store: StoreSettings
    package let masterKey: MasterKeySettings
    /// Which callers may do what; the standard policy if the file has no `callers`.
    package let policy: CallerPolicy
    package let adminSocket: SocketSettings
    package let decryptorSocket: SocketSettings
    /// Used only with ``provisioning``.
    package let issuerSocket: SocketSettings
    /// The portal; nil: none.
    package let portal: PortalSettings?
    package let trust: TrustSettings
    /// In-app provisioning; nil: none.
    package let provisioning: ProvisioningSettings?
    package let merchantTokens: MerchantTokenSettings
    package let auditHead: AuditHeadSettings
    /// Scheduled backups; nil: none.
    package let backup: BackupSettings?
    package let gateway: GatewaySettings
    package let sessions: SessionPolicy
    package let domainCheck: DomainCheckSettings
    package let events: EventSettings
    package let rolls: RollPolicy
    package let log: LogSettings
    /// The TCP port for a monitoring system; nil: none.
    package let metrics: MetricsSettings?
    /// When `status` reports keys that are in no verified backup.
    package let backupPolicy: BackupPolicy
    /// Every setting with its value, whether it is set or not.
    package let inForce: [SettingInForce]

    /// Names and values of the settings that the configuration file or environment variables set.
    package var explicitlySet: [(name: String, value: String)] {
        inForce.filter { $0.origin == .file || $0.origin == .environment }.map { ($0.name, $0.value) }
    }

    package var logLevel: Logger.Level { log.level }

    package var databasePath: String { "\(stateDirectory)/merchantkeyd.sqlite" }
    package var claimsPath: String { "\(stateDirectory)/claims.sqlite" }
    package var restoreMarkerPath: String { "\(stateDirectory)/restore-under-way" }
    package var lockPath: String { InstanceLock.path(inDirectory: stateDirectory) }
}

extension Settings {
    /// Reads the settings. An environment variable such as `MERCHANTKEYD_LOG_LEVEL` overrides the file, and the file
    /// overrides the default.
    ///
    /// - Parameters:
    ///   - path: the YAML file; nil for the defaults, with which the daemon serves only root and the user that runs it.
    ///   - stateDirectory: the option of the command line, which overrides the file and the environment; nil if not
    ///     given.
    ///   - variables: the environment variables.
    /// - Throws: ``SettingsError`` with every problem of the settings, each with the name of its setting.
    package static func read(
        file path: String?, stateDirectory: String?, environment variables: [String: String]
    ) throws -> Settings {
        let file = try path.map { try SettingsFile(readingFrom: $0) }
        let reader = SettingsReader(file, environment: variables)
        for problem in EnvironmentNames.problems(variables.keys, .standard) + (file?.problems ?? []) {
            reader.record(problem)
        }
        return try Settings(
            reading: reader,
            from: SettingsSource(file: path, stateDirectory: stateDirectory, variables: variables))
    }

    /// The declarations of all settings. The initializer declares each setting when it reads the setting.
    static func declarations() -> [SettingDeclaration] {
        let reader = SettingsReader(ConfigReader(providers: [InMemoryProvider(values: [:])]), entries: [:])
        let source = SettingsSource(file: nil, stateDirectory: "/", variables: [:])
        do { _ = try Settings(reading: reader, from: source) } catch {
            preconditionFailure("the settings' own defaults are refused: \(error)")
        }
        return reader.declarations
    }

    private init(reading reader: SettingsReader, from source: SettingsSource) throws {
        let (stateDirectory, variables) = (source.stateDirectory, source.variables)
        let environment: Environment = reader.value(
            "environment", .choice, default: "production",
            "The Apple environment of this daemon. A production daemon refuses tokens that Apple's sandbox signed.")
        let configuredDirectory = reader.optional(
            "state-directory", .text, whenUnset: "$XDG_STATE_HOME/merchantkeyd",
            "The directory for database, claims and lock file, mode 0700. The flag --state-directory overrides it.")
        let directory = reader.collect {
            try stateDirectory ?? configuredDirectory ?? Self.defaultStateDirectory(variables)
        }
        if let stateDirectory { reader.showOverride(stateDirectory, of: "state-directory") }
        if let directory { reader.showDefault(directory, of: "state-directory") }
        // If the directory is unknown, the remaining settings are read only to find their problems.
        let base = directory ?? ""
        let masterKey = reader.collect {
            try MasterKeySettings(reading: reader, in: base, environment: variables)
        }
        let callers = CallerPolicy.read(reader)
        // With `callers`, users other than the daemon's own must be able to connect.
        let mode = callers == nil ? "0600" : "0666"
        let adminSocket = SocketSettings(reading: reader, "admin", in: base, mode: mode)
        let decryptorSocket = SocketSettings(reading: reader, "decryptor", in: base, mode: mode)
        let issuerSocket = SocketSettings(reading: reader, "issuer", in: base, mode: mode)
        let portal = reader.collect { try PortalSettings.read(reader) }
        let trust = TrustSettings(reading: reader)
        let provisioning = reader.collect { try ProvisioningSettings.read(reader) }
        let merchantTokens = MerchantTokenSettings(reading: reader, environment: environment)
        let auditHead = AuditHeadSettings(reading: reader)
        let backup = reader.collect { try BackupSettings.read(reader) }
        var backupPolicy = BackupPolicy(
            reading: reader, environment: environment, isScheduled: backup.flatMap { $0 } != nil)
        let store = reader.collect { try StoreSettings(reading: reader, environment: variables) }
        if store?.postgresql != nil, !backupPolicy.isScheduled { backupPolicy.reportNothingByDefault(reader) }
        let gateway = reader.collect { try GatewaySettings(reading: reader) }
        let sessions = SessionPolicy(reading: reader, environment: environment)
        let domainCheck = DomainCheckSettings(reading: reader)
        let events = reader.collect { try EventSettings(reading: reader) }
        let rolls = RollPolicy(reading: reader)
        let log = LogSettings(reading: reader)
        let metrics = MetricsSettings.read(reader)
        // If there is no problem, none of these values is nil.
        guard reader.problems.isEmpty, let directory, let store, let masterKey, let portal, let provisioning,
            let backup,
            let gateway, let events
        else { throw SettingsError(problems: reader.problems) }
        self.source = source
        self.environment = environment
        self.stateDirectory = directory
        overriddenStateDirectory = configuredDirectory.flatMap { StateDirectory.isSame($0, directory) ? nil : $0 }
        (self.store, self.masterKey) = (store, masterKey)
        policy = callers ?? .standard(ownUID: getuid())
        (self.adminSocket, self.decryptorSocket, self.issuerSocket) = (adminSocket, decryptorSocket, issuerSocket)
        (self.portal, self.trust, self.provisioning, self.auditHead) = (portal, trust, provisioning, auditHead)
        (self.backup, self.backupPolicy) = (backup, backupPolicy)
        (self.gateway, self.sessions, self.domainCheck, self.events) = (gateway, sessions, domainCheck, events)
        self.merchantTokens = merchantTokens
        (self.rolls, self.log, self.metrics, inForce) = (rolls, log, metrics, reader.inForce)
    }

    private static func defaultStateDirectory(_ variables: [String: String]) throws -> String {
        if let state = variables["XDG_STATE_HOME"], state.hasPrefix("/") { return "\(state)/merchantkeyd" }
        guard let home = variables["HOME"], home.hasPrefix("/") else {
            throw SettingsError("neither XDG_STATE_HOME nor HOME is set; set one of them, or pass --state-directory")
        }
        return "\(home)/.local/state/merchantkeyd"
    }
}
