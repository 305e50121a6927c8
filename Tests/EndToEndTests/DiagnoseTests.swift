import Foundation
import Testing

@Suite struct DiagnoseTests {
    let installation: Installation

    init() throws { installation = try Installation() }

    private func diagnose(_ arguments: String...) throws -> (status: Int32, checks: [String: String]) {
        let outcome = try Installation.run(
            [
                "\(Installation.programs)/merchantkeyctl", "diagnose", "--output", "json", "--state-directory",
                installation.path("state"),
            ] + arguments)
        let checks = try #require(try outcome.json()["checks"] as? [[String: String]])
        return (
            outcome.status,
            Dictionary(checks.map { ($0["name"] ?? "", $0["outcome"] ?? "") }, uniquingKeysWith: { first, _ in first })
        )
    }

    @Test func `with the daemon up, down and killed, a sound installation has no failure and nothing is changed`()
        throws
    {
        try installation.start()
        let up = try diagnose()
        #expect(up.status == 0, "\(up.checks)")
        for name in [
            "settings", "state directory", "daemon", "database", "database content", "schema", "master key",
            "master key fits", "certificates", "clock", "admin socket", "decryptor socket", "disk space", "core dumps",
            "locked memory",
        ] {
            #expect(up.checks[name] == "success", "\(name): \(up.checks[name] ?? "not there")")
        }
        installation.stop(SIGKILL)
        #expect(try diagnose().status == 0)
        try installation.start()
        installation.stop()
        func content() throws -> [String: Data] {
            var all: [String: Data] = [:]
            for name in ["merchantkeyd.sqlite", "merchantkeyd.sqlite-wal", "master.key"] {
                all[name] = FileManager.default.contents(atPath: installation.path("state/\(name)"))
            }
            return all
        }
        let before = try content()
        #expect(try diagnose().status == 0)
        #expect(try content() == before)
    }

    @Test func `each fault is a failure of its own`() throws {
        try installation.start()
        installation.stop()
        func set(_ mode: Int, _ name: String) throws {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: installation.path(name))
        }
        for (name, check) in [
            ("state", "state directory"), ("state/merchantkeyd.sqlite", "database"), ("state/master.key", "master key"),
        ] {
            try set(0o755, name)
            let found = try diagnose()
            #expect(found.status == 1 && found.checks[check] == "failure", "\(name): \(found.checks)")
            try set(name == "state" ? 0o700 : 0o600, name)
        }
        let key = installation.path("state/master.key")
        let kept = try Data(contentsOf: URL(filePath: key))
        try Data(repeating: 1, count: 32).write(to: URL(filePath: key))
        try set(0o600, "state/master.key")
        #expect(try diagnose().checks["master key fits"] == "failure")
        try FileManager.default.removeItem(atPath: key)
        #expect(try diagnose().checks["master key"] == "failure")
        try kept.write(to: URL(filePath: key))
        try set(0o600, "state/master.key")
        #expect(try diagnose().status == 0)
        try Data("no database".utf8).write(to: URL(filePath: installation.path("state/merchantkeyd.sqlite")))
        try set(0o600, "state/merchantkeyd.sqlite")
        #expect(try diagnose().checks["database content"] == "failure")
        #expect(
            try diagnose("--config", try installation.write("nonsense: 1\n", "n.yaml")).checks["settings"] == "failure")
    }

    @Test func `what the daemon takes is no failure, and what it refuses is one`() throws {
        let (state, key) = (installation.path("state"), installation.path("kept.key"))
        try installation.start()
        installation.stop(SIGKILL)
        try FileManager.default.moveItem(atPath: "\(state)/master.key", toPath: key)
        try FileManager.default.createSymbolicLink(atPath: "\(state)/master.key", withDestinationPath: key)
        let linked = try diagnose()
        #expect(linked.status == 0, "\(linked.checks)")
        #expect(chmod("\(state)/merchantkeyd.sqlite-shm", 0o644) == 0)
        #expect(try diagnose().checks["database-shm"] == "failure")
        #expect(try installation.failedStart("--state-directory", state).status == 1)
        #expect(chmod("\(state)/merchantkeyd.sqlite-shm", 0o600) == 0)
        try installation.start()
        installation.stop()
        try Data("no database".utf8).write(to: URL(filePath: "\(state)/claims.sqlite"))
        #expect(try diagnose().checks["claims content"] == "failure")
        try FileManager.default.removeItem(atPath: "\(state)/claims.sqlite")
        #expect(try diagnose().status == 0)
        _ = try installation.sql("UPDATE migrations SET sha256 = zeroblob(32) WHERE version = 1")
        #expect(try diagnose().checks["database content"] == "failure")
        #expect(try installation.failedStart("--state-directory", state).error.contains("different text of migration"))
    }

    @Test(.enabled(if: geteuid() == 0, "changing a file's owner takes root"))
    func `root judges a directory as the user whose it is`() throws {
        let state = installation.path("state")
        #expect(chmod(installation.directory, 0o755) == 0)
        try installation.start()
        installation.stop()
        for name in try FileManager.default.subpathsOfDirectory(atPath: state) + ["."] {
            #expect(chown("\(state)/\(name)", 12345, 12345) == 0)
        }
        let found = try diagnose()
        #expect(found.status == 0, "\(found.checks)")
        #expect(chown("\(state)/master.key", 23456, 12345) == 0)
        #expect(try diagnose().checks["master key"] == "failure")
    }

    @Test func `a write-ahead log that is gone is a failure, as it is to the daemon`() throws {
        try installation.start()
        #expect(try installation.ctl("merchant", "add", "merchant.com.example.gone").status == 0)
        installation.stop(SIGKILL)
        #expect(try diagnose().checks["write-ahead log"] == "success")
        try FileManager.default.removeItem(atPath: installation.path("state/merchantkeyd.sqlite-wal"))
        let found = try diagnose()
        #expect(found.status == 1 && found.checks["write-ahead log"] == "failure", "\(found.checks)")
        let refused = try installation.failedStart("--state-directory", installation.path("state"))
        #expect(refused.status == 1 && refused.error.contains("write-ahead log"), "\(refused.error)")
    }

    @Test func `settings are checked without a daemon`() throws {
        func check(_ yaml: String) throws -> Installation.Outcome {
            try Installation.run([
                "\(Installation.programs)/merchantkeyctl", "config", "check", "--config",
                try installation.write(yaml, "c.yaml"), "--state-directory", installation.path("state"),
            ])
        }
        let good = try check("backup:\n  directory: /backups\n  every: 12h\n")
        #expect(good.status == 0 && good.output.contains("/backups"), "\(good.output) \(good.error)")
        for (yaml, word) in [
            ("backup:\n  every: soon\n", "backup.every"), ("backup:\n  directory: here\n", "absolute"),
            ("backup:\n  keep: 0\n", "backup.keep"), ("audit:\n  head:\n    file: x\n", "audit.head.file"),
            ("audit:\n  heads: x\n", "unknown setting"), ("trust:\n  token-roots: [/nowhere]\n", "/nowhere"),
        ] {
            let bad = try check(yaml)
            #expect(bad.status == 1 && bad.error.contains(word), "\(bad.error)")
        }
    }
}
