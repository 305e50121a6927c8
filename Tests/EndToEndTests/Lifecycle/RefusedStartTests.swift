import Foundation
import Testing

/// Conditions under which the daemon refuses to start, and the errors that it reports.
@Suite(.onlyOnSQLite) struct RefusedStartTests {
    let installation: Installation

    init() throws { installation = try Installation() }

    /// Expects a refused start whose error contains these values.
    private func expectRefusal(_ arguments: String..., naming values: String...) throws {
        let outcome = try installation.failedStart(arguments)
        #expect(outcome.status == 1, "\(outcome.error)")
        for value in values { #expect(outcome.error.contains(value), "\(outcome.error)") }
    }

    @Test func `a second daemon on the same directory is refused, with the process identifier of the first`() throws {
        try installation.start()
        let lock = try String(contentsOfFile: installation.path("state/merchantkeyd.lock"), encoding: .utf8)
        let holder = try #require(lock.split(separator: "\n").first)
        try expectRefusal(
            "--state-directory", installation.path("state"),
            naming: "process \(holder) ")
    }

    @Test(arguments: [0o750, 0o705, 0o777])
    func `a state directory that others can read or write is refused`(mode: Int) throws {
        let state = installation.path("state")
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: state)
        try expectRefusal("--state-directory", state, naming: String(mode, radix: 8), "0700")
        #expect(try FileManager.default.contentsOfDirectory(atPath: state).isEmpty)
    }

    @Test func `a master key that others can read is refused`() throws {
        try installation.start()
        installation.stop()
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o640], ofItemAtPath: installation.path("state/master.key"))
        try expectRefusal("--state-directory", installation.path("state"), naming: "640", "600")
    }

    @Test func `a database without its master key is refused, and no new key is created`() throws {
        try installation.start()
        installation.stop()
        let key = installation.path("state/master.key")
        let kept = try Data(contentsOf: URL(filePath: key))
        try FileManager.default.removeItem(atPath: key)
        try expectRefusal("--state-directory", installation.path("state"), naming: "[masterKeyMissing]", key)
        #expect(!FileManager.default.fileExists(atPath: key))

        try Data(repeating: 7, count: kept.count).write(to: URL(filePath: key))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
        try installation.expectRefusedStart("masterKeyRejected")

        try kept.write(to: URL(filePath: key))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
        try installation.start()
    }

    /// All but the first of these settings name files, which the start and `config check` both read. `SettingsTests`
    /// tests other settings.
    @Test(arguments: [
        ("enviroment: sandbox", "'enviroment'"),
        ("trust:\n  token-roots: [/nowhere.pem]", "'trust.token-roots' names /nowhere.pem"),
        ("trust:\n  certificate-issuers: [/nowhere.pem]", "'trust.certificate-issuers' names /nowhere.pem"),
        ("apple:\n  gateway:\n    trust-roots: [/nowhere.pem]", "'apple.gateway.trust-roots' names /nowhere.pem"),
        ("apple:\n  gateway:\n    trust-roots: [/dev/null]", "'apple.gateway.trust-roots'"),
        ("domain-check:\n  trust-roots: [/nowhere.pem]", "'domain-check.trust-roots' names /nowhere.pem"),
        ("apple:\n  gateway:\n    identity:\n      certificate: /nowhere.pem", "/nowhere.pem"),
    ])
    func `the start and config check refuse a wrong setting, and name the setting or its file`(
        yaml: String, value: String
    ) throws {
        let file = try installation.write(yaml, "bad.yaml")
        try expectRefusal("--config", file, "--state-directory", installation.path("state"), naming: value)
        let check = try installation.ctl("config", "check", "--config", file)
        #expect(check.status == 1 && check.error.contains(value), "\(check.error)")
        #expect(!check.error.contains("Domain="), "\(check.error)")
    }

    @Test func `the daemon starts with settings of Apple's gateway and of domain checks`() throws {
        try installation.apple("init")
        try installation.apple(
            "issue-server", "--name", "localhost", "--certificate", installation.path("server.pem"), "--private-key",
            installation.path("server.key"))
        let csr = try Installation.run([
            "openssl", "req", "-new", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=x", "-keyout",
            installation.path("identity.key"), "-out", installation.path("identity.csr"),
        ])
        try #require(csr.status == 0)
        try installation.apple(
            "issue", "--purpose", "identity", "--merchant", "platformintegrator.com.example", "--csr",
            installation.path("identity.csr"), "--out", installation.path("identity.cer"))
        let root = installation.path("apple/root.pem")
        let file = try installation.write(
            """
            environment: sandbox
            apple:
              gateway:
                url: https://localhost:8443
                trust-roots: [\(root)]
                identity:
                  certificate: \(installation.path("identity.cer"))
                  private-key: \(installation.path("identity.key"))
                timeouts:
                  connect: 5s
                  answer: 20
            domain-check:
              allow-internal-addresses: true
              trust-roots: \(root)
              resolve: [shop.example.com=127.0.0.1:8444]
              timeout: 5s
            """, "gateway.yaml")
        try installation.start(config: file)
        #expect(installation.log.contains("setting=domain-check.allow-internal-addresses"))
    }

    @Test func `an empty list of callers grants no permit`() throws {
        let file = try installation.write("callers: []\n", "no-callers.yaml")
        try installation.start(config: file, answering: ["200", "403"])
        let refused = try installation.ctl("status")
        #expect(refused.status == 1 && refused.refusalCode == "forbidden", "\(refused.error)")
    }

    @Test func `a socket on which another daemon listens is not taken over`() throws {
        try installation.start()
        let file = try installation.write("sockets:\n  admin:\n    path: \(installation.adminSocket)\n", "taken.yaml")
        try expectRefusal(
            "--config", file, "--state-directory", installation.path("other"), naming: installation.adminSocket)
        #expect(try installation.ctl("status").status == 0)
    }

    @Test func `the exit status is 2 for an unknown flag, and 0 for --help`() throws {
        #expect(try installation.failedStart("--nonsense").status == 2)
        #expect(try installation.failedStart("--help").status == 0)
    }

    @Test func `a socket path that is too long is refused with its length`() throws {
        let path = installation.path(String(repeating: "s", count: 120))
        let file = try installation.write("sockets:\n  admin:\n    path: \(path)\n", "long.yaml")
        try expectRefusal(
            "--config", file, "--state-directory", installation.path("state"), naming: "\(path.utf8.count)", "107")
        #expect(!FileManager.default.fileExists(atPath: installation.path("state")), "refused before a file is created")
    }

    @Test func `only the daemon's user can open its files and sockets`() throws {
        try installation.start()
        for (name, mode) in [
            ("", 0o700), ("/master.key", 0o600), ("/merchantkeyd.sqlite", 0o600), ("/admin.sock", 0o600),
            ("/decryptor.sock", 0o600),
        ] {
            let attributes = try FileManager.default.attributesOfItem(atPath: installation.path("state\(name)"))
            #expect(attributes[.posixPermissions] as? Int == mode, "\(name)")
        }
    }

    @Test func `a start with a wrong master key damages nothing, and a start with the right key then succeeds`() throws
    {
        try installation.start()
        #expect(try installation.ctl("merchant", "add", "merchant.com.example.kept").status == 0)
        installation.stop(SIGKILL)
        let (key, kept) = (installation.path("state/master.key"), installation.path("kept.key"))
        try FileManager.default.moveItem(atPath: key, toPath: kept)
        try Data(repeating: 1, count: 32).write(to: URL(filePath: key))
        #expect(chmod(key, 0o600) == 0)
        try installation.expectRefusedStart("masterKeyRejected")
        try FileManager.default.removeItem(atPath: key)
        try FileManager.default.moveItem(atPath: kept, toPath: key)
        try installation.start()
        #expect(try installation.ctl("merchant", "show", "merchant.com.example.kept").status == 0)
    }
}
