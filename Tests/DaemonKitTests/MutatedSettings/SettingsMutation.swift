import DaemonKit
import MerchantTestSupport

/// A change of valid settings, and whether the daemon must start with the result.
struct SettingsMutation: CustomStringConvertible {
    enum Verdict { case accepted, refused }

    let description: String
    let settings: SettingsText
    let environment: [String: String]
    let verdict: Verdict
}

/// Generates mutations from the declarations of the settings. The same seed generates the same mutations.
struct SettingsMutations {
    typealias Verdict = SettingsMutation.Verdict

    let fixture: SettingsFixture
    var random: SeededGenerator

    init(_ fixture: SettingsFixture, seed: UInt64) {
        self.fixture = fixture
        random = SeededGenerator(seed: seed)
    }

    /// - Parameter number: the number of the valid settings, see ``SettingsFixture/validSettings(_:)``.
    mutating func next(_ number: Int) -> SettingsMutation {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: misspeltName(number)
        case 1: wrongShape(number)
        case 2: wrongValue(number)
        case 3: defaultValue(number)
        case 4: environmentVariable(number)
        case 5: wrongFile(number)
        default: combination(number)
        }
    }

    // MARK: From the declarations

    private static let declarations = SettingsCatalog.standard.declarations.filter { $0.table == nil }

    /// Texts that most formats refuse.
    private static let wrongTexts = [
        "\u{1}", "", "no such value", "-1", "1.5", "99999999999999999999", "1e3", "10 d", "0x10", "True",
    ]

    private mutating func declaration(where fits: (SettingDeclaration) -> Bool) -> SettingDeclaration {
        let fitting = Self.declarations.filter(fits)
        guard let chosen = fitting.randomElement(using: &random) else {
            preconditionFailure("no setting fits this mutation")
        }
        return chosen
    }

    private func mutation(
        _ number: Int, _ description: String, _ verdict: Verdict, environment: [String: String] = [:],
        _ change: (inout SettingsText) -> Void = { _ in }
    ) -> SettingsMutation {
        var settings = fixture.validSettings(number)
        change(&settings)
        return SettingsMutation(
            description: description, settings: settings, environment: environment, verdict: verdict)
    }

    private mutating func misspeltName(_ number: Int) -> SettingsMutation {
        let name = declaration { _ in true }.name
        let wrong = Bool.random(using: &random) ? "\(name)s" : "\(name).x"
        return mutation(number, "'\(wrong)' is no setting", .refused) { $0.set(wrong, "1") }
    }

    private mutating func wrongShape(_ number: Int) -> SettingsMutation {
        let chosen = declaration { _ in true }
        let shape = chosen.isList || Bool.random(using: &random) ? "{a: b}" : "[a]"
        return mutation(number, "\(chosen.name): \(shape)", .refused) { $0[yaml: chosen.name] = shape }
    }

    private mutating func wrongValue(_ number: Int) -> SettingsMutation {
        // In the sandbox environment, which the valid settings have, validation-hosts accepts more than in production,
        // for which the catalog declares it.
        let chosen = declaration { declaration in
            declaration.name != "sessions.validation-hosts"
                && Self.wrongTexts.contains { !declaration.accepts($0) }
        }
        let text = Self.wrongTexts.filter { !chosen.accepts($0) }.randomElement(using: &random) ?? ""
        return mutation(number, "\(chosen.name): \(SettingsText.quoted(text))", .refused) { $0.set(chosen.name, text) }
    }

    /// Sets a setting to its default. Settings of the master key are left out, because each has an effect with one
    /// source only. Lists are left out too, and texts, because their default is a description.
    private mutating func defaultValue(_ number: Int) -> SettingsMutation {
        let chosen = declaration {
            !$0.isList && $0.accepts($0.defaultText) && !$0.accepts("\u{1}") && !$0.name.hasPrefix("master-key")
        }
        return mutation(number, "\(chosen.name): \(chosen.defaultText)", .accepted) {
            $0.set(chosen.name, chosen.defaultText)
        }
    }

    private mutating func environmentVariable(_ number: Int) -> SettingsMutation {
        let chosen = declaration { declaration in
            !declaration.isList && Self.wrongTexts.contains { !declaration.accepts($0) }
        }
        let name = chosen.environmentName ?? ""
        let text = Self.wrongTexts.filter { !chosen.accepts($0) && $0 != "" }.randomElement(using: &random) ?? "\u{2}"
        let variables: [(String, String, Verdict)] = [
            (name, text, .refused), ("\(name)_X", "1", .refused), ("MERCHANTKEYD_CALLERS", "root", .refused),
            ("MERCHANTKEYD_CALLERS_0_UID", "0", .refused), ("MERCHANTKEYD_EVENTS_WEBHOOKS_0_URL", "x", .refused),
            ("MERCHANTKEYD_FIXTURES", "/", .refused), ("MERCHANTKEYD_LOG_LEVEL", "error", .accepted),
            ("MERCHANTKEYD_SOCKET", "/nowhere", .accepted), ("merchantkeyd_callers", "root", .accepted),
            ("MERCHANTKEYD_BACKUP_KEEP", "7", .accepted),
        ]
        let (variable, value, verdict) = variables.randomElement(using: &random) ?? variables[0]
        return mutation(
            number, "\(variable)=\(SettingsText.quoted(value))", verdict, environment: [variable: value])
    }

    // MARK: Files

    /// Settings that name one file, which the daemon must read, and whether the setting is a list.
    private static let files: [(name: String, isList: Bool)] = [
        ("portal.tls.certificate", false), ("portal.tls.private-key", false), ("portal.tls.client-ca", false),
        ("apple.gateway.identity.certificate", false), ("trust.token-roots", true),
        ("trust.certificate-issuers", true), ("provisioning.trust-roots", true), ("apple.gateway.trust-roots", true),
        ("domain-check.trust-roots", true),
    ]

    private mutating func wrongFile(_ number: Int) -> SettingsMutation {
        let (name, isList) = Self.files.randomElement(using: &random) ?? Self.files[0]
        let file =
            ["nowhere/file", "directory", "garbage", "empty", "garbage/child"].randomElement(using: &random) ?? ""
        let path = fixture.path(file)
        return mutation(number, "\(name): \(file)", .refused) {
            if isList { $0.set(name, [path]) } else { $0.set(name, path) }
        }
    }

    private mutating func combination(_ number: Int) -> SettingsMutation {
        let all = combinations(number)
        return all.randomElement(using: &random) ?? all[0]
    }
}
