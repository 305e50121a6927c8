import Foundation
import Testing

/// What the daemon refuses to start on, and what it says.
@Suite struct BadStartTests {
    let installation: Installation

    init() throws { installation = try Installation() }

    func refused(_ arguments: String..., saying words: String...) throws {
        let outcome = try installation.failedStart(arguments)
        #expect(outcome.status == 1, "\(outcome.error)")
        for word in words { #expect(outcome.error.contains(word), "\(outcome.error)") }
    }

    @Test func `a second daemon on one directory is refused and the first is named`() throws {
        try installation.start()
        let lock = try String(contentsOfFile: installation.path("state/merchantkeyd.lock"), encoding: .utf8)
        let holder = try #require(lock.split(separator: "\n").first)
        try refused(
            "--state-directory", installation.path("state"),
            saying: "process \(holder) ")
    }

    @Test(arguments: [0o750, 0o705, 0o777])
    func `a state directory that others can read or write is refused`(mode: Int) throws {
        let state = installation.path("state")
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: state)
        try refused("--state-directory", state, saying: String(mode, radix: 8), "0700")
        #expect(try FileManager.default.contentsOfDirectory(atPath: state).isEmpty)
    }

    @Test func `a master key that others can read is refused`() throws {
        try installation.start()
        installation.stop()
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o640], ofItemAtPath: installation.path("state/master.key"))
        try refused("--state-directory", installation.path("state"), saying: "640", "600")
    }

    @Test func `a database without its master key is refused, and no new one is made`() throws {
        try installation.start()
        installation.stop()
        let key = installation.path("state/master.key")
        let kept = try Data(contentsOf: URL(filePath: key))
        try FileManager.default.removeItem(atPath: key)
        try refused("--state-directory", installation.path("state"), saying: "master key", key)
        #expect(!FileManager.default.fileExists(atPath: key))

        try Data(repeating: 7, count: kept.count).write(to: URL(filePath: key))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
        try refused("--state-directory", installation.path("state"), saying: "not the one")

        try kept.write(to: URL(filePath: key))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
        try installation.start()
    }

    @Test(arguments: [
        ("enviroment: sandbox", "enviroment"), ("environment: test", "production"),
        ("callers:\n  - permits: [read]", "uid"),
        ("callers:\n  - uid: 1\n    permits: [reed]", "reed"), ("callers:\n  - uid: x\n    permits: []", "uid"),
        ("log:\n  level: loud", "log.level"),
        ("callers:\n  - uid: 0\n    permits: [read]\n    merchants:\n", "merchants"), ("callers:\n", "callers"),
        ("callers: {}\n", "callers"), ("a: [", "YAML"),
        ("trust:\n  token-roots: [/nowhere.pem]", "/nowhere.pem"),
        ("sockets:\n  admin:\n    mode: rw", "octal"),
        ("apple:\n  gateway:\n    url: http://localhost", "apple.gateway.url"),
        ("apple:\n  gateway:\n    trust-roots: [/nowhere.pem]", "/nowhere.pem"),
        ("apple:\n  gateway:\n    trust-roots: [/dev/null]", "apple.gateway.trust-roots"),
        ("apple:\n  gateway:\n    identity:\n      private-key: /x", "no 'certificate'"),
        ("apple:\n  gateway:\n    identity:\n      certificate: /nowhere.pem", "/nowhere.pem"),
        ("apple:\n  gateway:\n    identity:\n      merchant-identifier: shop", "merchant-identifier"),
        ("apple:\n  gateway:\n    timeouts:\n      answer: 0", "1s to 60s"),
        ("apple:\n  gatway:\n    url: https://localhost", "apple.gatway.url"),
        ("domain-check:\n  allow-internal-addresses: 1", "true or false"),
        ("domain-check:\n  resolve: [shop.example.com]", "NAME=ADDRESS"),
        ("domain-check:\n  resolve: [shop.example.com=localhost]", "NAME=ADDRESS"),
    ])
    func `a wrong setting is refused by name`(yaml: String, word: String) throws {
        let file = try installation.write(yaml, "bad.yaml")
        try refused("--config", file, "--state-directory", installation.path("state"), saying: word)
    }

    @Test func `the settings of Apple's gateway and of domain checks are taken`() throws {
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
        let log = try String(contentsOfFile: installation.path("daemon.log"), encoding: .utf8)
        #expect(log.contains("domain checks may ask internal addresses"))
    }

    @Test func `an empty list of callers gives nobody a permit`() throws {
        let file = try installation.write("callers: []\n", "nobody.yaml")
        try installation.start(config: file, answering: ["200", "403"])
        #expect(try installation.ctl("status").error.contains("forbidden"))
    }

    @Test func `a socket on which another daemon listens is not taken over`() throws {
        try installation.start()
        let file = try installation.write("sockets:\n  admin:\n    path: \(installation.adminSocket)\n", "taken.yaml")
        try refused(
            "--config", file, "--state-directory", installation.path("other"), saying: "another process listens")
        #expect(try installation.ctl("status").status == 0)
    }

    @Test func `wrong usage is exit status 2`() throws {
        #expect(try installation.failedStart("--nonsense").status == 2)
        #expect(try installation.failedStart("--help").status == 0)
    }

    @Test func `a socket path too long is refused with its length`() throws {
        let path = installation.path(String(repeating: "s", count: 120))
        let file = try installation.write("sockets:\n  admin:\n    path: \(path)\n", "long.yaml")
        try refused(
            "--config", file, "--state-directory", installation.path("state"), saying: "\(path.utf8.count)", "107")
    }

    @Test func `files and sockets belong to the daemon's user alone`() throws {
        try installation.start()
        for (name, mode) in [
            ("", 0o700), ("/master.key", 0o600), ("/merchantkeyd.sqlite", 0o600), ("/admin.sock", 0o600),
            ("/decryptor.sock", 0o600),
        ] {
            let attributes = try FileManager.default.attributesOfItem(atPath: installation.path("state\(name)"))
            #expect(attributes[.posixPermissions] as? Int == mode, "\(name)")
        }
    }

    @Test func `a start that is refused for its master key takes nothing for lost when the right one is back`() throws {
        try installation.start()
        #expect(try installation.ctl("merchant", "add", "merchant.com.example.kept").status == 0)
        installation.stop(SIGKILL)
        let (key, kept) = (installation.path("state/master.key"), installation.path("kept.key"))
        try FileManager.default.moveItem(atPath: key, toPath: kept)
        try Data(repeating: 1, count: 32).write(to: URL(filePath: key))
        #expect(chmod(key, 0o600) == 0)
        try refused("--state-directory", installation.path("state"), saying: "not the one of this database")
        try FileManager.default.removeItem(atPath: key)
        try FileManager.default.moveItem(atPath: kept, toPath: key)
        try installation.start()
        #expect(try installation.ctl("merchant", "show", "merchant.com.example.kept").status == 0)
    }
}
