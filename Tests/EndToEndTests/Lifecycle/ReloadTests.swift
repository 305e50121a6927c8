import Foundation
import Glibc
import MerchantTestSupport
import Testing

/// `merchantkeyctl reload` with the real programs.
@Suite struct ReloadTests {
    private static let unknownKey = "/v1/keys/\(String(repeating: "A", count: 43))"

    let installation: Installation

    init() throws { installation = try Installation() }

    /// Writes the settings file. By default, the user that runs the tests may reload.
    private func write(permits: String = "read, administer, resolve", _ more: String = "") throws {
        _ = try installation.write(
            """
            environment: sandbox
            callers:
              - uid: \(geteuid())
                permits: [\(permits)]
            \(more)
            """, "daemon.yaml")
    }

    private func start(_ more: String = "") throws {
        try write(more)
        try installation.start(config: installation.path("daemon.yaml"))
    }

    /// The response of a successful reload.
    private func reload(_ arguments: String...) throws -> [String: Any] {
        let outcome = try Installation.run(
            [
                "\(Installation.programs)/merchantkeyctl", "--socket", installation.adminSocket, "--output", "json",
                "reload",
            ] + arguments)
        #expect(outcome.status == 0, "\(outcome.error)")
        return try outcome.json()
    }

    private func changed(_ document: [String: Any]) -> [String] { document["changed"] as? [String] ?? [] }

    @Test func `callers change at once, also on connections that are open, and the audit has the change`() throws {
        try start()
        let open = try LoadClient(installation.decryptorSocket)
        #expect(try open.call("GET", Self.unknownKey).status == 404)
        try write(permits: "read, administer, symmetricKey")
        #expect(try changed(reload("--dry-run")) == ["callers"])
        #expect(try open.call("GET", Self.unknownKey).status == 404)
        #expect(try changed(reload()) == ["callers"])
        #expect(try open.call("GET", Self.unknownKey).status == 403)
        #expect(try installation.curl(installation.decryptorSocket, Self.unknownKey).output == "403")
        let records = try installation.auditRecords("settingsReloaded")
        #expect(records.count == 1 && records.first?["after"] as? String == "callers", "\(records)")
        #expect(try installation.auditRecords("permitsChanged").count == 2)
        try write()
        #expect(try changed(reload()) == ["callers"])
        #expect(try open.call("GET", Self.unknownKey).status == 404)
        #expect(try changed(reload()) == [])
    }

    @Test func `the log level and the log of requests change at once`() throws {
        try start()
        #expect(try installation.ctl("status").status == 0)
        #expect(!installation.log.contains("level=debug") && !installation.log.contains("message=request "))
        try write("log: {level: debug, requests: true}")
        #expect(try changed(reload()) == ["log.level", "log.requests"])
        #expect(try installation.ctl("status").status == 0)
        try installation.eventually("the log has more lines") {
            installation.log.contains("level=debug") && installation.log.contains("message=request ")
        }
        try write("log: {level: critical}")
        _ = try reload()
        let length = installation.log.count
        #expect(try installation.ctl("status").status == 0)
        #expect(installation.log.count == length)
    }

    @Test func `a settings file with a fault changes nothing and is a finding until a reload succeeds`() throws {
        try start()
        try write(permits: "read, administer", "log: {level: loud}\nbackup: {keep: 3}\nunknown: 1")
        for arguments in [["reload", "--dry-run"], ["reload"]] {
            let refused = try Installation.run(
                ["\(Installation.programs)/merchantkeyctl", "--socket", installation.adminSocket] + arguments)
            #expect(refused.status == 1 && refused.refusalCode == "settingsInvalid", "\(refused.error)")
            for problem in ["'log.level'", "'backup.keep'", "'unknown'"] {
                #expect(refused.error.contains(problem), "\(refused.error)")
            }
            let inForce =
                "these permits stay in force although the settings file withdraws them: uid \(geteuid()): resolve;"
            #expect(refused.error.contains(inForce), "\(refused.error)")
            // A dry run reports the fault only to its caller.
            #expect(try (installation.finding("reloadFailed") != nil) == (arguments.count == 1))
        }
        #expect(try installation.curl(installation.decryptorSocket, Self.unknownKey).output == "404")
        #expect(try installation.auditRecords("settingsReloaded").isEmpty)
        try write()
        #expect(try changed(reload()) == [])
        #expect(try installation.finding("reloadFailed") == nil)
    }

    @Test func `a refused reload and its finding name the permits that stay in force although the file withdraws them`()
        throws
    {
        try start()
        // The settings are valid, but they name a file that does not exist.
        try write(permits: "read, administer", "trust: {token-roots: [\(installation.path("absent.pem"))]}")
        let refused = try installation.ctl("reload")
        #expect(refused.refusalCode == "settingsInvalid", "\(refused.error)")
        let inForce =
            "these permits stay in force although the settings file withdraws them: uid \(geteuid()): resolve;"
        #expect(refused.error.contains(inForce) && refused.error.contains("absent.pem"), "\(refused.error)")
        #expect(try installation.details(of: "reloadFailed").contains(inForce))
        #expect(try installation.curl(installation.decryptorSocket, Self.unknownKey).output == "404")
        // Without the fault, the permit ends at once.
        try write(permits: "read, administer")
        #expect(try changed(reload()) == ["callers"])
        #expect(try installation.curl(installation.decryptorSocket, Self.unknownKey).output == "403")
    }

    @Test func `a refused reload says that all permits stay in force if the fault is in callers`() throws {
        try start()
        try write(permits: "read, administer, resolv")
        let refused = try installation.ctl("reload")
        #expect(refused.error.contains("the permits of all callers stay in force"), "\(refused.error)")
    }

    @Test func `the trusted roots of payment tokens change with a reload`() throws {
        let merchant = "merchant.com.example.tokens"
        try installation.apple("init")
        // The platform first trusts another root.
        let other = installation.path("other")
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
        let created = try Installation.run([
            "\(Installation.programs)/applepay-sandbox", "init", "--directory", other,
        ])
        try #require(created.status == 0, "\(created.error)")
        func trust(_ root: String) throws {
            try write(permits: "read, administer, decrypt", "trust: {token-roots: [\(root)]}")
        }
        try trust("\(other)/root.pem")
        try installation.start(config: installation.path("daemon.yaml"))
        #expect(try installation.ctl("merchant", "add", merchant).status == 0)
        _ = try installation.certifiedKey(merchant, "key")
        try installation.apple(
            "mint-token", "--certificate", installation.path("key.cer"), "--out", installation.path("token.json"))
        func verify() throws -> Installation.Outcome {
            try installation.ctl("token", "verify", installation.path("token.json"))
        }
        let refused = try verify()
        #expect(
            refused.status == 1 && refused.output.contains("certificateChain"), "\(refused.output) \(refused.error)")
        try trust(installation.path("apple/root.pem"))
        #expect(try changed(reload()) == ["trust.token-roots"])
        #expect(try verify().status == 0)
        // The former root is not trusted any more.
        try trust("\(other)/root.pem")
        #expect(try changed(reload()) == ["trust.token-roots"])
        #expect(try verify().status == 1)
    }

    @Test func `merchantkeyd reload needs no permit, and fails if the daemon refuses the settings`() throws {
        try start()
        func runMerchantkeydReload() throws -> Installation.Outcome {
            try Installation.run([
                "\(Installation.programs)/merchantkeyd", "reload", "--state-directory", installation.stateDirectory,
            ])
        }
        try write(permits: "resolve")
        #expect(try runMerchantkeydReload().status == 0)
        #expect(try installation.ctl("status").refusalCode == "forbidden")
        try write(permits: "read, administer, resolve", "unknown: 1")
        let refused = try runMerchantkeydReload()
        #expect(refused.status == 1 && refused.error.contains("'unknown'"), "\(refused.error)")
        #expect(try installation.ctl("status").refusalCode == "forbidden")
        try write()
        #expect(try runMerchantkeydReload().status == 0)
        #expect(try installation.ctl("status").status == 0)
        // The command leaves nothing behind, and fails without a daemon.
        #expect(!FileManager.default.fileExists(atPath: "\(installation.stateDirectory)/reload-result.sock"))
        #expect(installation.stop() == 0)
        let stopped = try runMerchantkeydReload()
        #expect(stopped.status == 1 && stopped.error.contains("no merchantkeyd uses"), "\(stopped.error)")
    }

    @Test func `a setting that needs a restart is named with both values, and its former value stays in force`() throws
    {
        try start()
        try write(
            "log: {format: json, level: debug}\nmaster-key: {timeout: 9s, source: command, command: [/bin/true, secret]}"
        )
        let document = try reload()
        #expect(changed(document) == ["log.level"])
        let pending = Installation.items(document["needsRestart"])
        let format = try #require(pending.first { $0["name"] as? String == "log.format" }, "\(pending)")
        #expect(format["inForce"] as? String == "logfmt" && format["configured"] as? String == "json")
        #expect(pending.contains { $0["name"] as? String == "master-key.command" })
        #expect(!"\(pending)".contains("secret"))
        #expect(!installation.log.contains(#"{"time""#))
        // Another reload still names it.
        #expect(try Installation.items(reload()["needsRestart"]).count == pending.count)
    }

    @Test func `a changed private key of usage information needs a restart`() throws {
        let key = installation.path("usage.key")
        func createKey() throws {
            let generated = try Installation.run(
                ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384", "-out", key])
            try #require(generated.status == 0, "\(generated.error)")
            #expect(chmod(key, 0o600) == 0)
        }
        try createKey()
        try start("merchant-tokens: {usage-information: {url: \"http://127.0.0.1:9/\", private-key: \(key)}}")
        #expect(try Installation.items(reload()["needsRestart"]).isEmpty)
        try createKey()
        let names = try Installation.items(reload()["needsRestart"]).compactMap { $0["name"] as? String }
        #expect(names == ["merchant-tokens.usage-information.private-key"])
    }

    @Test func `the changed fields of a list are reported with both values, but never the value of a webhook's URL`()
        throws
    {
        _ = try installation.write("0123456789abcdef\n", "secret")
        #expect(chmod(installation.path("secret"), 0o600) == 0)
        func webhooks(_ path: String) -> String {
            "events: {webhooks: [{url: \"https://127.0.0.1:1/\(path)\", secret-file: \(installation.path("secret")), name: w, allow-internal-addresses: true}]}"
        }
        try start(webhooks("token-1"))
        let addedCaller = "  - uid: 4242\n    permits: [read"
        try write(permits: "read, administer]\n\(addedCaller)", webhooks("token-2"))
        for arguments in [["--dry-run"], []] {
            let outcome = try Installation.run(
                [
                    "\(Installation.programs)/merchantkeyctl", "--socket", installation.adminSocket, "--output", "json",
                    "reload",
                ] + arguments)
            let document = try outcome.json()
            let changes = Installation.items(document["changes"])
            let permits = try #require(changes.first { $0["name"] as? String == "callers.0.permits" }, "\(changes)")
            #expect((permits["before"] as? String)?.contains("resolve") == true, "\(permits)")
            #expect((permits["after"] as? String)?.contains("resolve") == false, "\(permits)")
            #expect(!changes.contains { $0["name"] as? String == "callers.0.uid" })
            #expect(changes.contains { $0["name"] as? String == "events.webhooks.0.url" })
            func added(_ field: String) -> [String: Any]? {
                changes.first { $0["name"] as? String == "callers.1.\(field)" }
            }
            #expect(added("uid")?["after"] as? String == "4242")
            #expect(added("gid") == nil)
            // The default is reported, because a caller without this line has its permits for every merchant.
            #expect(added("merchants")?["after"] as? String == "all merchants")
            #expect(!outcome.output.contains("token-"), "\(outcome.output)")
        }
    }

    @Test(.onlyOnSQLite) func `a change of the environment leaves the defaults of the former environment in force`()
        throws
    {
        try start()
        let production = try String(contentsOfFile: installation.path("daemon.yaml"), encoding: .utf8)
            .replacingOccurrences(of: "environment: sandbox", with: "environment: production")
        _ = try installation.write(production, "daemon.yaml")
        let document = try reload()
        let names = Installation.items(document["needsRestart"]).compactMap { $0["name"] as? String }
        #expect(changed(document) == [])
        #expect(Set(names).isSuperset(of: ["environment", "backup.missing.warn-after"]), "\(names)")
    }

    @Test(.onlyOnSQLite) func `a reload starts and moves scheduled backups, also while a backup is being created`()
        throws
    {
        try start()
        for name in ["first", "second"] {
            let directory = installation.path(name)
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
            func backups() throws -> Set<String> {
                Set(try FileManager.default.contentsOfDirectory(atPath: directory).filter { $0.hasSuffix(".backup") })
            }
            try write("backup: {directory: \(directory), every: 1s, keep: 2}")
            #expect(try changed(reload()).contains("backup.directory"))
            try installation.eventually("a backup in \(name)") { try !backups().isEmpty }
            // Some of these reloads may come while a backup is being created.
            let before = try backups()
            for keep in 3...12 {
                try write("backup: {directory: \(directory), every: 1s, keep: \(keep)}")
                #expect(try changed(reload()) == ["backup.keep"])
            }
            try installation.eventually("another backup in \(name)") { try backups().subtracting(before).count > 1 }
            #expect(try installation.finding("backupFailed") == nil)
        }
    }

    @Test func `the issuers of certificates change with a reload, also if only the file's content changes`() throws {
        try installation.apple("init")
        let roots = ["apple", "other"].map { installation.path("\($0)/root.pem") }
        try FileManager.default.createDirectory(
            atPath: installation.path("other"), withIntermediateDirectories: false)
        let other = try Installation.run([
            "\(Installation.programs)/applepay-sandbox", "init", "--directory", installation.path("other"),
        ])
        try #require(other.status == 0, "\(other.error)")
        try start()
        #expect(try installation.ctl("merchant", "add", "merchant.com.example").status == 0)
        _ = try installation.certifiedKey("merchant.com.example", "k")
        let issuers = try installation.write(String(contentsOfFile: roots[1], encoding: .utf8), "issuers.pem")
        try write("trust: {certificate-issuers: [\(issuers)]}")
        #expect(try changed(reload()) == ["trust.certificate-issuers"])
        let refused = try installation.ctl("certificate", "upload", installation.path("k.cer"))
        #expect(refused.refusalCode == "certificateIssuerUntrusted", "\(refused.error)")
        let intermediate = try String(contentsOfFile: installation.path("apple/processing-issuer.pem"), encoding: .utf8)
        _ = try installation.write(
            intermediate + String(contentsOfFile: roots[0], encoding: .utf8), "issuers.pem")
        #expect(try changed(reload()) == ["trust.certificate-issuers"])
        #expect(try installation.ctl("certificate", "upload", installation.path("k.cer")).status == 0)
    }

    @Test func `reloads at the same time run one after another`() throws {
        try start()
        try write("log: {level: debug}")
        let reloads = try (0..<4).map { _ in try installation.startCtl("reload") }
        for reload in reloads { #expect(reload.wait() == .exited(0)) }
        let records = try installation.auditRecords("settingsReloaded")
        #expect(records.count == 4)
        #expect(records.filter { $0["after"] as? String == "log.level" }.count == 1, "\(records)")
    }
}
