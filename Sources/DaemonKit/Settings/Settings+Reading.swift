import Configuration
import Glibc
import Logging
import MerchantCore
import Vocabulary

extension Settings {
    /// Reads the settings: an environment variable (`MERCHANTKEYD_LOG_LEVEL`) wins over the file, the file over the default.
    ///
    /// - Parameters:
    ///   - path: the YAML file; nil runs for one user without one.
    ///   - stateDirectory: from the command line; wins over everything.
    /// - Throws: ``SettingsError`` naming the setting, what was found and what was expected.
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
        let reader = ConfigReader(providers: [
            EnvironmentVariablesProvider(environmentVariables: variables).prefixKeys(with: "merchantkeyd"),
            InMemoryProvider(values: values),
        ])

        let directory =
            try stateDirectory ?? reader.string(forKey: "state-directory") ?? defaultStateDirectory(variables)
        let policy = try callers(reader, count: file?.entries["callers"])
        let mode: UInt32 = policy == nil ? 0o600 : 0o666
        return Settings(
            environment: try choice(reader, "environment", default: .production),
            policy: policy ?? .standard(ownUID: getuid()), hasCallers: policy != nil,
            tokenRoots: reader.stringArray(forKey: "trust.token-roots", default: []),
            certificateIssuers: reader.stringArray(forKey: "trust.certificate-issuers"), stateDirectory: directory,
            masterKey: try MasterKeySettings.read(reader, in: directory, variables),
            adminSocket: try socket(reader, "admin", in: directory, mode: mode),
            decryptorSocket: try socket(reader, "decryptor", in: directory, mode: mode),
            logLevel: try choice(reader, "log.level", default: .info),
            auditHead: AuditHeadSettings(
                file: try absolutePath(reader, "audit.head.file"),
                syslog: try absolutePath(reader, "audit.head.syslog"),
                every: try duration(reader, "audit.head.every", default: .seconds(60)),
                eventEvery: try reader.string(forKey: "audit.head.event-every").map { _ in
                    try duration(reader, "audit.head.event-every", default: .seconds(3600))
                }),
            backup: try backup(reader), gateway: try GatewaySettings.read(reader),
            events: try EventSettings.read(reader, webhooks: file?.entries["events.webhooks"] ?? 0),
            rolls: try rolls(reader))
    }

    private static func backup(_ reader: ConfigReader) throws -> BackupSettings? {
        let every = try duration(reader, "backup.every", default: .seconds(86_400))
        let keep = reader.string(forKey: "backup.keep", default: "30")
        guard let keep = Int(keep), (1...10_000).contains(keep) else {
            throw SettingsError("'backup.keep' is '\(keep)', expected a number from 1 to 10000")
        }
        guard let directory = try absolutePath(reader, "backup.directory") else { return nil }
        return BackupSettings(directory: directory, every: every, keep: keep)
    }

    private static func absolutePath(_ reader: ConfigReader, _ name: String) throws -> String? {
        guard let path = reader.string(forKey: ConfigKey(name)) else { return nil }
        guard path.hasPrefix("/") else { throw SettingsError("'\(name)' is '\(path)', expected an absolute path") }
        return path
    }

    private static func duration(_ reader: ConfigReader, _ name: String, default fallback: Duration) throws -> Duration
    {
        guard let text = reader.string(forKey: ConfigKey(name)) else { return fallback }
        guard let seconds = DurationText.seconds(text), (1...31_536_000).contains(seconds) else {
            throw SettingsError("'\(name)' is '\(text)', \(DurationText.expectation) and at most 365d")
        }
        return .seconds(seconds)
    }

    private static func rolls(_ reader: ConfigReader) throws -> RollPolicy {
        var policy = RollPolicy()
        policy.renewBefore = try duration(reader, "roll.renew-before", 1...730, default: policy.renewBefore)
        policy.jitter = try duration(reader, "roll.renewal-jitter", 0...365, default: policy.jitter)
        policy.quietPeriod = try duration(reader, "roll.quiet-period", 0...365, default: policy.quietPeriod)
        policy.promotesOnProof = try flag(reader, "roll.promote-on-proof", default: policy.promotesOnProof)
        policy.finishesWhenQuiet = try flag(reader, "roll.finish-when-quiet", default: policy.finishesWhenQuiet)
        return policy
    }

    /// - Parameter days: the fewest and the most that are taken.
    private static func duration(
        _ reader: ConfigReader, _ name: String, _ days: ClosedRange<Int>, default fallback: Duration
    ) throws -> Duration {
        guard let text = reader.string(forKey: ConfigKey(name)) else { return fallback }
        guard let seconds = DurationText.seconds(text),
            (days.lowerBound * 86_400...days.upperBound * 86_400).contains(seconds)
        else {
            throw SettingsError(
                "'\(name)' is '\(text)', \(DurationText.expectation), from \(days.lowerBound)d to \(days.upperBound)d"
            )
        }
        return .seconds(seconds)
    }

    private static func flag(_ reader: ConfigReader, _ name: String, default fallback: Bool) throws -> Bool {
        switch reader.string(forKey: ConfigKey(name)) {
        case nil: return fallback
        case "true": return true
        case "false": return false
        case .some(let text): throw SettingsError("'\(name)' is '\(text)', expected true or false")
        }
    }

    private static func defaultStateDirectory(_ variables: [String: String]) throws -> String {
        if let state = variables["XDG_STATE_HOME"], state.hasPrefix("/") { return "\(state)/merchantkeyd" }
        guard let home = variables["HOME"], home.hasPrefix("/") else {
            throw SettingsError("neither XDG_STATE_HOME nor HOME is set, expected one of them or --state-directory")
        }
        return "\(home)/.local/state/merchantkeyd"
    }

    private static func choice<Value: RawRepresentable & CaseIterable>(
        _ reader: ConfigReader, _ name: String, default fallback: Value
    ) throws -> Value where Value.RawValue == String {
        guard let text = reader.string(forKey: ConfigKey(name)) else { return fallback }
        guard let value = Value(rawValue: text) else {
            throw SettingsError(
                "'\(name)' is '\(text)', expected one of \(Value.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return value
    }

    private static func socket(
        _ reader: ConfigReader, _ name: String, in directory: String, mode: UInt32
    ) throws -> SocketSettings {
        var settings = SocketSettings(
            path: reader.string(forKey: ConfigKey("sockets.\(name).path"), default: "\(directory)/\(name).sock"),
            mode: mode)
        if let text = reader.string(forKey: ConfigKey("sockets.\(name).mode")) {
            guard let mode = UInt32(text.hasPrefix("0o") ? String(text.dropFirst(2)) : text, radix: 8), mode <= 0o777
            else {
                throw SettingsError("'sockets.\(name).mode' is '\(text)', expected an octal mode such as 0660")
            }
            settings.mode = mode
        }
        return settings
    }

    /// - Returns: nil where the file has no `callers`.
    private static func callers(_ reader: ConfigReader, count: Int?) throws -> CallerPolicy? {
        guard let count else { return nil }
        return CallerPolicy(rules: try (0..<count).map { try caller(reader, "callers.\($0)") })
    }

    private static func caller(_ reader: ConfigReader, _ name: String) throws -> CallerPolicy.Rule {
        let uid = try identifier(reader, "\(name).uid")
        let gid = try identifier(reader, "\(name).gid")
        let subject: CallerPolicy.Rule.Subject
        switch (uid, gid) {
        case (let uid?, nil): subject = .uid(uid)
        case (nil, let gid?): subject = .gid(gid)
        default:
            throw SettingsError(
                "'\(name)' has \(uid == nil ? "neither uid nor gid" : "both uid and gid"), expected one of them")
        }
        let permits = try reader.stringArray(forKey: ConfigKey("\(name).permits"), default: []).map { text in
            guard let permit = Permit(rawValue: text) else {
                throw SettingsError(
                    "'\(name).permits' has '\(text)', expected some of \(Permit.allCases.map(\.rawValue).joined(separator: ", "))"
                )
            }
            return permit
        }
        let merchants = try reader.stringArray(forKey: ConfigKey("\(name).merchants"))?.map { text in
            guard let merchant = MerchantIdentifier(text) else {
                throw SettingsError("'\(name).merchants' has '\(text)', \(MerchantIdentifier.expectation)")
            }
            return merchant
        }
        return .init(subject: subject, grant: Grant(permits: Set(permits), merchants: merchants.map(Set.init)))
    }

    private static func identifier(_ reader: ConfigReader, _ name: String) throws -> UInt32? {
        guard let text = reader.string(forKey: ConfigKey(name)) else { return nil }
        guard let number = UInt32(text) else { throw SettingsError("'\(name)' is '\(text)', expected a number") }
        return number
    }
}
