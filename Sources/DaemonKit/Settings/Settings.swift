import Configuration
import Glibc
package import Logging
package import MerchantCore
package import Vocabulary

/// The settings of the daemon. They are read once at the start, and contain only valid values.
package struct Settings: Sendable {
    package let environment: Environment
    package let stateDirectory: String
    package let masterKey: MasterKeySettings
    /// Which callers may do what; the standard policy if the file has no `callers`.
    package let policy: CallerPolicy
    package let adminSocket: SocketSettings
    package let decryptorSocket: SocketSettings
    /// The portal; nil: none.
    package let portal: PortalSettings?
    package let trust: TrustSettings
    package let auditHead: AuditHeadSettings
    /// Scheduled backups; nil: none.
    package let backup: BackupSettings?
    package let gateway: GatewaySettings
    package let domainCheck: DomainCheckSettings
    package let events: EventSettings
    package let rolls: RollPolicy
    package let logLevel: Logger.Level
    /// Names and values of the settings that the configuration file or environment variables set.
    package let explicitlySet: [(name: String, value: String)]

    package var databasePath: String { "\(stateDirectory)/merchantkeyd.sqlite" }
    package var claimsPath: String { "\(stateDirectory)/claims.sqlite" }
    package var restoreMarkerPath: String { "\(stateDirectory)/restore-under-way" }
    package var lockPath: String { "\(stateDirectory)/merchantkeyd.lock" }
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
    /// - Throws: ``SettingsError`` with the name of the setting.
    package static func read(
        file path: String?, stateDirectory: String?, environment variables: [String: String]
    ) throws -> Settings {
        let file = try path.map { try SettingsFile(readingFrom: $0) }
        var values: [AbsoluteConfigKey: ConfigValue] = [:]
        for (name, text) in file?.texts ?? [:] {
            values[AbsoluteConfigKey(ConfigKey(name))] = ConfigValue(.string(text), isSecret: false)
        }
        for (name, list) in file?.lists ?? [:] {
            values[AbsoluteConfigKey(ConfigKey(name))] = ConfigValue(.stringArray(list), isSecret: false)
        }
        let reader = SettingsReader(
            ConfigReader(providers: [
                EnvironmentVariablesProvider(environmentVariables: variables).prefixKeys(with: "merchantkeyd"),
                InMemoryProvider(values: values),
            ]),
            entries: file?.entries ?? [:])
        return try Settings(reading: reader, stateDirectory: stateDirectory, environment: variables)
    }

    /// The declarations of all settings. The initializer declares each setting when it reads the setting.
    static func declarations() -> [SettingDeclaration] {
        let reader = SettingsReader(ConfigReader(providers: [InMemoryProvider(values: [:])]), entries: [:])
        do { _ = try Settings(reading: reader, stateDirectory: "/", environment: [:]) } catch {
            preconditionFailure("the settings' own defaults are refused: \(error)")
        }
        return reader.declarations
    }

    private init(
        reading reader: SettingsReader, stateDirectory: String?, environment variables: [String: String]
    ) throws {
        environment = try reader.value(
            "environment", .choice, default: "production",
            "The Apple environment of this daemon. A production daemon refuses tokens that Apple's sandbox signed.")
        let configuredDirectory = try reader.optional(
            "state-directory", .text, whenUnset: "$XDG_STATE_HOME/merchantkeyd",
            "The directory for database, claims and lock file, mode 0700. The flag --state-directory overrides it.")
        let directory = try stateDirectory ?? configuredDirectory ?? Self.defaultStateDirectory(variables)
        self.stateDirectory = directory
        masterKey = try MasterKeySettings(reading: reader, in: directory, environment: variables)
        let callers = try CallerPolicy.read(reader)
        policy = callers ?? .standard(ownUID: getuid())
        // With `callers`, users other than the daemon's own must be able to connect.
        let mode = callers == nil ? "0600" : "0666"
        adminSocket = try SocketSettings(reading: reader, "admin", in: directory, mode: mode)
        decryptorSocket = try SocketSettings(reading: reader, "decryptor", in: directory, mode: mode)
        portal = try PortalSettings.read(reader)
        trust = try TrustSettings(reading: reader)
        auditHead = try AuditHeadSettings(reading: reader)
        backup = try BackupSettings.read(reader)
        gateway = try GatewaySettings(reading: reader)
        domainCheck = try DomainCheckSettings(reading: reader)
        events = try EventSettings(reading: reader)
        rolls = try RollPolicy(reading: reader)
        logLevel = try reader.value(
            "log.level", .choice, default: "info", "The least severe log lines that the daemon writes.")
        explicitlySet = reader.explicitlySet
    }

    private static func defaultStateDirectory(_ variables: [String: String]) throws -> String {
        if let state = variables["XDG_STATE_HOME"], state.hasPrefix("/") { return "\(state)/merchantkeyd" }
        guard let home = variables["HOME"], home.hasPrefix("/") else {
            throw SettingsError("neither XDG_STATE_HOME nor HOME is set; set one of them, or pass --state-directory")
        }
        return "\(home)/.local/state/merchantkeyd"
    }
}
