import DaemonKit
import Foundation
import Logging
import MerchantCore
import Testing
import Vocabulary

/// The settings file, the environment and the defaults.
@Suite struct SettingsTests {
    private let directory: URL

    init() {
        directory = URL(filePath: NSTemporaryDirectory()).appending(path: "settings-\(UUID().uuidString)")
    }

    private func read(_ yaml: String?, environment: [String: String] = [:]) throws -> Settings {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let file = directory.appending(path: "c.yaml")
        if let yaml { try Data(yaml.utf8).write(to: file) }
        return try Settings.read(
            file: yaml.map { _ in file.path }, stateDirectory: "/state", environment: environment)
    }

    private func refusal(_ yaml: String) throws -> String {
        try #require(throws: SettingsError.self) { try read(yaml) }.description
    }

    @Test func `without a file everything has its default`() throws {
        let settings = try read(nil)
        #expect(settings.environment == .production)
        #expect(settings.masterKey.current == .file("/state/master.key") && settings.masterKey.previous == nil)
        #expect(settings.adminSocket.path == "/state/admin.sock" && settings.adminSocket.mode == 0o600)
        #expect(settings.decryptorSocket.path == "/state/decryptor.sock")
        #expect(settings.trust.tokenRoots == [] && settings.trust.certificateIssuers == nil)
        #expect(settings.auditHead.file == nil && settings.auditHead.interval == .seconds(60))
        #expect(settings.auditHead.eventInterval == nil && settings.backup == nil)
        #expect(settings.gateway.endpoint == nil && settings.gateway.connectTimeout == .seconds(10))
        #expect(settings.gateway.responseTimeout == .seconds(30) && settings.domainCheck.timeout == .seconds(15))
        #expect(settings.events.retention == .seconds(400 * 86_400) && settings.events.webhooks.isEmpty)
        #expect(settings.rolls == .init())
        #expect(settings.logLevel == .info && settings.explicitlySet.isEmpty)
    }

    @Test func `an environment variable takes precedence over the file`() throws {
        let settings = try read("log:\n  level: debug\n", environment: ["MERCHANTKEYD_LOG_LEVEL": "error"])
        #expect(settings.logLevel == .error)
    }

    @Test func `every setting outside a list of mappings can come from its environment variable`() throws {
        for declaration in SettingsCatalog.standard.declarations where declaration.environmentName != nil {
            let name = try #require(declaration.environmentName)
            // Most settings refuse the text, and the error names them. The others accept it, and are listed as set.
            let seen: String
            // The command line would override the variable.
            let directory = declaration.name == "state-directory" ? nil : "/state"
            do {
                let settings = try Settings.read(file: nil, stateDirectory: directory, environment: [name: "\u{1}"])
                seen = settings.explicitlySet.map(\.name).joined()
            } catch { seen = "\(error)" }
            #expect(seen.contains(declaration.name) || seen.contains("apple.gateway.identity"), "\(name): \(seen)")
        }
    }

    @Test(arguments: [
        "MERCHANTKEYD_CALLERS", "MERCHANTKEYD_CALLERS_0_UID", "MERCHANTKEYD_EVENTS_WEBHOOKS", "MERCHANTKEYD_LOG_LEVL",
        "MERCHANTKEYD_FIXTURES", "MERCHANTKEYD_",
    ])
    func `an unknown environment variable with the prefix MERCHANTKEYD_ is refused by name`(name: String) throws {
        let error = try #require(throws: SettingsError.self) {
            try read("callers:\n  - uid: 5\n    permits: [read]\n", environment: [name: "0"])
        }
        #expect(error.problems.count == 1 && error.description.contains(name), "\(error.problems)")
    }

    @Test func `the variable of merchantkeyctl and those of other programs are ignored`() throws {
        let settings = try read(
            nil, environment: ["MERCHANTKEYD_SOCKET": "/x", "XMERCHANTKEYD_CALLERS": "x", "PATH": "/"])
        #expect(settings.explicitlySet.isEmpty)
    }

    @Test func `every problem is reported, not only the first`() throws {
        let error = try #require(throws: SettingsError.self) {
            try read(
                "enviroment: sandbox\nlog:\n  level: loud\nbackup:\n  keep: 0\ncallers:\n  - uid: x\n  - gid: y\n",
                environment: ["MERCHANTKEYD_NONSENSE": "1"])
        }
        let names = [
            "'log.level'", "'backup.keep'", "'enviroment'", "'callers.0.uid'", "'callers.1.gid'",
            "MERCHANTKEYD_NONSENSE",
        ]
        for name in names { #expect(error.problems.count { $0.contains(name) } == 1, "\(name): \(error.problems)") }
        #expect(error.problems.count == names.count, "\(error.problems)")
    }

    @Test func `every setting in force is listed once, with its value as it is written and with its origin`() throws {
        let settings = try read(
            "backup:\n  directory: /backups\n  every: 12h\ncallers:\n  - uid: 5\n    permits: [read, resolve]\n",
            environment: ["MERCHANTKEYD_BACKUP_KEEP": "7"])
        func inForce(_ name: String) -> SettingInForce? { settings.inForce.first { $0.name == name } }
        for declaration in SettingsCatalog.standard.declarations where declaration.table == nil {
            #expect(settings.inForce.count { $0.name == declaration.name } == 1, "\(declaration.name)")
        }
        #expect(inForce("backup.every")?.value == "12h" && inForce("backup.every")?.origin == .file)
        #expect(inForce("backup.keep")?.value == "7" && inForce("backup.keep")?.origin == .environment)
        #expect(inForce("audit.head.every")?.value == "60s" && inForce("audit.head.every")?.origin == .standard)
        #expect(inForce("state-directory")?.value == "/state" && inForce("state-directory")?.origin == .commandLine)
        #expect(inForce("sockets.admin.path")?.value == "/state/admin.sock")
        #expect(inForce("sockets.admin.mode")?.value == "0666")
        #expect(inForce("master-key.file")?.value == "/state/master.key")
        #expect(inForce("callers.0.permits")?.value == "read, resolve")
        #expect(inForce("backup.missing.critical-after")?.value == "7d")
    }

    @Test func `with SQLite a missing backup is reported by default in production only`() throws {
        let production = try read(nil).backupPolicy
        #expect(production.warningAfter == .zero && production.criticalAfter == .seconds(7 * 86_400))
        let sandbox = try read("environment: sandbox\n").backupPolicy
        #expect(sandbox.warningAfter == nil && sandbox.criticalAfter == nil)
        let set = try read(
            "environment: sandbox\nbackup:\n  missing: {warn-after: 1d, critical-after: never}\n"
        ).backupPolicy
        #expect(set.warningAfter == .seconds(86_400) && set.criticalAfter == nil && !set.isScheduled)
    }

    @Test func `the settings that are set are listed by name, as config check prints them`() throws {
        let settings = try read("backup:\n  directory: /backups\n  every: 12h\n")
        #expect(settings.explicitlySet.map(\.name) == ["backup.directory", "backup.every"])
        let backup = try #require(settings.backup)
        #expect(backup.directory == "/backups" && backup.interval == .seconds(43_200) && backup.keep == 30)
    }

    @Test func `callers may be named by user or group`() throws {
        let settings = try read(
            "callers:\n  - user: root\n    permits: [read]\n  - group: root\n    permits: [resolve]\n")
        #expect(settings.policy.rules.map(\.subject) == [.uid(0), .gid(0)])
        #expect(settings.inForce.first { $0.name == "callers.0.user" }?.value == "root")
    }

    @Test func `with callers the default mode of the sockets admits every user`() throws {
        let settings = try read("callers:\n  - uid: 0\n    permits: [read]\n")
        #expect(settings.adminSocket.mode == 0o666 && settings.decryptorSocket.mode == 0o666)
    }

    @Test(arguments: [
        ("enviroment: sandbox", "enviroment"), ("environment: test", "'environment'"),
        ("callers:\n  - permits: [read]", "'callers.0'"), ("callers:\n  - uid: 1\n    gid: 1", "'callers.0'"),
        ("callers:\n  - uid: 1\n    permits: [reed]", "'callers.0.permits'"),
        ("callers:\n  - uid: x\n    permits: []", "'callers.0.uid'"),
        ("callers:\n  - uid: 1\n    name: x", "'callers.0.name'"),
        ("callers:\n  - user: no-such-user\n    permits: [read]", "'callers.0.user'"),
        ("callers:\n  - group: no-such-group\n    permits: [read]", "'callers.0.group'"),
        ("callers:\n  - user: 1000000\n    permits: [read]", "'callers.0.user'"),
        ("callers:\n  - user: root\n    uid: 0", "'callers.0'"),
        ("callers:\n  - user: root\n    group: root", "'callers.0'"),
        ("callers:\n  - uid: 0\n    permits: [read]\n    merchants:\n", "'callers.0.merchants'"),
        ("callers:\n  - uid: 0\n    merchants: [shop]\n", "'callers.0.merchants'"),
        ("callers:\n", "'callers'"), ("callers: {}\n", "'callers'"), ("a: [", "YAML"),
        (
            "trust:\n  token-roots: [/a]\nlog:\n  level: info\ntrust:\n  token-roots: [/b]\n",
            "'trust' occurs more than once"
        ),
        ("callers: root", "'callers'"), ("callers: [root]", "'callers.0'"), ("log: info", "'log.level'"),
        ("log: [info]", "'log.level'"), ("enviroment:\n", "enviroment"), ("- log", "mapping"),
        ("backup:\n  every: 1d", "'backup.directory'"), ("backup:\n  keep: 7", "'backup.directory'"),
        ("backup:\n  missing:\n    warn-after: soon", "'backup.missing.warn-after'"),
        ("log:\n  level: loud", "'log.level'"), ("log:\n  0:\n    level: info", "'log.0.level'"),
        ("log:\n  level: [info]", "'log.level'"), ("sockets:\n  admin:\n    mode: rw", "'sockets.admin.mode'"),
        ("sockets:\n  admin:\n    mode: 1777", "'sockets.admin.mode'"),
        ("apple:\n  gateway:\n    url: http://localhost", "'apple.gateway.url'"),
        ("apple:\n  gateway:\n    identity:\n      private-key: /x", "'apple.gateway.identity'"),
        ("apple:\n  gateway:\n    identity:\n      merchant-identifier: shop", "merchant-identifier'"),
        ("apple:\n  gateway:\n    timeouts:\n      answer: 0", "'apple.gateway.timeouts.answer'"),
        ("apple:\n  gatway:\n    url: https://localhost", "'apple.gatway.url'"),
        ("domain-check:\n  allow-internal-addresses: 1", "'domain-check.allow-internal-addresses'"),
        ("domain-check:\n  resolve: [shop.example.com]", "'domain-check.resolve'"),
        ("domain-check:\n  resolve: [shop.example.com=localhost]", "'domain-check.resolve'"),
        ("backup:\n  every: soon\n", "'backup.every'"), ("backup:\n  directory: here\n", "'backup.directory'"),
        ("backup:\n  keep: 0\n", "'backup.keep'"), ("audit:\n  head:\n    file: x\n", "'audit.head.file'"),
        ("audit:\n  heads: x\n", "'audit.heads'"), ("events:\n  retention-days: 0\n", "'events.retention-days'"),
        ("events:\n  webhooks:\n    - name: x\n", "'events.webhooks.0'"),
        ("events:\n  webhooks:\n    - url: https://x.example.com\n", "'secret-file'"),
        ("roll:\n  renew-before: 0d\n", "'roll.renew-before'"),
        ("roll:\n  promote-on-decryption: yes please\n", "'roll.promote-on-decryption'"),
        ("master-key:\n  source: memory\n", "'master-key.source'"),
        ("master-key:\n  credential: x\n", "'master-key.credential'"),
        ("master-key:\n  source: systemd-credential\n  credential: a/b\n", "'master-key.credential'"),
        ("master-key:\n  source: command\n  command: [unseal]\n", "'master-key.command'"),
        ("master-key:\n  source: command\n  command: [/bin/x]\n  timeout: 301s\n", "'master-key.timeout'"),
        ("master-key:\n  previous:\n    source: file\n", "'master-key.previous.file'"),
        ("master-key:\n  previous:\n    file: /state/master.key\n", "'master-key.previous'"),
    ])
    func `a wrong setting is refused by name`(yaml: String, name: String) throws {
        #expect(try refusal(yaml).contains(name))
    }

    @Test func `each setting is declared once, with a summary and a default`() {
        let declarations = SettingsCatalog.standard.declarations
        #expect(Set(declarations.map(\.name)).count == declarations.count)
        for declaration in declarations {
            #expect(!declaration.summary.isEmpty && !declaration.defaultText.isEmpty, "\(declaration.name)")
        }
    }
}
