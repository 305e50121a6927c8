import Foundation
import Testing

/// `merchantkeyctl diagnose` and `config check`.
@Suite(.onlyOnSQLite) struct DiagnoseTests {
    let installation: Installation

    init() throws { installation = try Installation() }

    @Test
    func `diagnose reports no failure for an intact installation and changes nothing, also after a shutdown or kill`()
        throws
    {
        try installation.start()
        let serving = try installation.diagnose()
        #expect(serving.status == 0 && serving.failures.isEmpty, "\(serving)")
        for name in [
            "settings", "state directory", "daemon", "database", "database content", "schema", "master key",
            "master key fits", "certificates", "clock", "admin socket", "decryptor socket", "disk space", "core dumps",
            "locked memory",
        ] {
            #expect(serving.outcome(name) == "success", "\(name): \(serving.detail(name))")
        }
        installation.stop(SIGKILL)
        #expect(try installation.diagnose().status == 0)
        try installation.start()
        installation.stop()
        // A missing socket is not a success, even if no daemon runs.
        let stopped = try installation.diagnose()
        for name in ["admin socket", "decryptor socket"] {
            #expect(stopped.outcome(name) == "warning", "\(name): \(stopped.detail(name))")
        }
        func content() throws -> [String: Data] {
            var all: [String: Data] = [:]
            for name in ["merchantkeyd.sqlite", "merchantkeyd.sqlite-wal", "master.key"] {
                all[name] = FileManager.default.contents(atPath: installation.path("state/\(name)"))
            }
            return all
        }
        let before = try content()
        #expect(try installation.diagnose().status == 0)
        #expect(try content() == before)
    }

    /// SQLite reads such a file without an error, and refuses only to write it.
    @Test func `a damaged database header that prevents only writing is a failure of diagnose`() throws {
        try installation.start()
        installation.stop()
        let file = try #require(FileHandle(forUpdatingAtPath: installation.path("state/merchantkeyd.sqlite")))
        try file.seek(toOffset: 18)
        try file.write(contentsOf: Data([9]))
        try file.close()
        let diagnosis = try installation.diagnose()
        #expect(diagnosis.status == 1 && diagnosis.outcome("database content") == "failure", "\(diagnosis)")
    }

    @Test func `diagnose counts one merchant in the singular`() throws {
        try installation.start()
        #expect(try installation.ctl("merchant", "add", "merchant.com.example.one").status == 0)
        let detail = try installation.diagnose().detail("database content")
        #expect(detail.hasPrefix("intact; 1 merchant, "), "\(detail)")
    }

    @Test func `a lock file that cannot be opened is reported with the reason, whether a daemon runs or not`() throws {
        let (lock, kept) = (installation.path("state/merchantkeyd.lock"), installation.path("kept.lock"))
        let reason = String(cString: strerror(ELOOP))
        /// Replaces the lock file by a link to itself, which root cannot open either.
        func putLink() throws { try FileManager.default.createSymbolicLink(atPath: lock, withDestinationPath: lock) }
        try installation.createStateDirectory()
        try putLink()
        let stopped = try installation.diagnose()
        #expect(stopped.outcome("daemon") == "failure" && stopped.detail("daemon").contains(reason), "\(stopped)")
        #expect(unlink(lock) == 0)

        try installation.start()
        try FileManager.default.moveItem(atPath: lock, toPath: kept)
        try putLink()
        let running = try installation.diagnose().detail("daemon")
        #expect(running.contains("a daemon runs with the state directory") && running.contains(reason), "\(running)")
        #expect(unlink(lock) == 0)
        #expect(try installation.diagnose().detail("daemon").contains("was moved or replaced"))
        try FileManager.default.moveItem(atPath: kept, toPath: lock)
        #expect(try installation.diagnose().outcome("daemon") == "success")
    }

    @Test func `diagnose reports that the next start will fail if the daemon refuses to start`() throws {
        let (database, lock) = (installation.database, installation.path("state/merchantkeyd.lock"))
        try installation.start()
        installation.stop()
        #expect(try installation.diagnose().outcome("next start") == "success")
        func expectRefusal(sourceLocation: SourceLocation = #_sourceLocation) throws {
            let diagnosis = try installation.diagnose()
            #expect(
                diagnosis.status == 1 && diagnosis.outcome("next start") == "failure", "\(diagnosis)",
                sourceLocation: sourceLocation)
            let started = try installation.failedStart("--state-directory", installation.stateDirectory)
            #expect(started.status == 1, sourceLocation: sourceLocation)
        }
        if geteuid() != 0 {
            #expect(chmod(database, 0o400) == 0)
            try expectRefusal()
            #expect(chmod(database, 0o600) == 0)
        }
        let content = try Data(contentsOf: URL(filePath: database))
        try Data().write(to: URL(filePath: database))
        #expect(chmod(database, 0o600) == 0)
        try expectRefusal()
        #expect(try installation.diagnose().refusals.contains("databaseMissing"))
        try content.write(to: URL(filePath: database))
        #expect(chmod(database, 0o600) == 0)
        #expect(try installation.diagnose().outcome("next start") == "success")
        let kept = try Data(contentsOf: URL(filePath: lock))
        try FileManager.default.removeItem(atPath: lock)
        try FileManager.default.createDirectory(atPath: lock, withIntermediateDirectories: false)
        try expectRefusal()
        try FileManager.default.removeItem(atPath: lock)
        try kept.write(to: URL(filePath: lock))
        let settings = try installation.diagnose("--config", installation.write("nonsense: 1\n", "n.yaml"))
        #expect(settings.status == 1, "\(settings)")
    }

    @Test func `diagnose reports a daemon that does not respond as a failure`() throws {
        try installation.start()
        let serving = try installation.diagnose()
        #expect(serving.outcome("response") == "success", "\(serving)")
        let process = try #require(installation.process)
        kill(process, SIGSTOP)
        defer { kill(process, SIGCONT) }
        let frozen = try installation.diagnose()
        #expect(frozen.status == 1 && frozen.outcome("response") == "failure", "\(frozen)")
    }

    /// Such a command may need a token that only the daemon's unit has.
    @Test func `diagnose expects a start to succeed if the key command works only in the running daemon's environment`()
        throws
    {
        let key = installation.path("own.key")
        try #require(try Installation.run(["openssl", "rand", "-out", key, "32"]).status == 0)
        let script = try installation.write(
            "#!/bin/sh\necho x >> \(installation.path("runs"))\ncat \"$OWN_KEY\"\n", "key.sh")
        #expect(chmod(script, 0o700) == 0)
        let config = try installation.write(
            "environment: sandbox\nmaster-key:\n  source: command\n  command: [\(script)]\n", "command.yaml")
        try installation.start(config: config, environment: ["OWN_KEY": key])
        func runs() throws -> Int {
            try String(contentsOfFile: installation.path("runs"), encoding: .utf8).split(separator: "\n").count
        }
        let before = try runs()
        let diagnosis = try installation.diagnose("--config", config)
        #expect(diagnosis.failures.isEmpty && diagnosis.outcome("next start") == "success", "\(diagnosis)")
        #expect(try runs() == before + 1)
        installation.stop()
        // Now only the test's environment is left, in which the command fails.
        #expect(try installation.diagnose("--config", config).outcome("next start") == "failure")
    }

    @Test func `diagnose warns about a master key that other users can replace`() throws {
        try installation.createStateDirectory()
        let directory = installation.path("keys")
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        let config = try installation.write(
            "environment: sandbox\nmaster-key:\n  file: \(directory)/master.key\n", "key.yaml")
        #expect(chmod(directory, 0o700) == 0)
        #expect(try installation.diagnose("--config", config).outcome("settings") == "success")
        #expect(chmod(directory, 0o777) == 0)
        let warned = try installation.diagnose("--config", config)
        #expect(
            warned.status == 4 && warned.outcome("settings") == "warning"
                && warned.detail("settings").contains(directory), "\(warned)")
    }

    @Test func `diagnose warns if its flag overrides the state directory of the settings`() throws {
        try installation.createStateDirectory()
        let config = try installation.write(
            "environment: sandbox\nstate-directory: \(installation.path("other"))\n", "directory.yaml")
        let same = try installation.write(
            "environment: sandbox\nstate-directory: \(installation.stateDirectory)/\n", "same.yaml")
        #expect(try installation.diagnose("--config", same).outcome("settings") == "success")
        let warned = try installation.diagnose("--config", config)
        #expect(
            warned.status == 4 && warned.detail("settings").contains(installation.path("other")), "\(warned)")
    }

    @Test func `each fault fails its own check`() throws {
        try installation.start()
        installation.stop()
        func set(_ mode: Int, _ name: String) throws {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: installation.path(name))
        }
        for (name, check) in [
            ("state", "state directory"), ("state/merchantkeyd.sqlite", "database"), ("state/master.key", "master key"),
        ] {
            try set(0o755, name)
            let found = try installation.diagnose()
            #expect(found.status == 1 && found.outcome(check) == "failure", "\(name): \(found)")
            try set(name == "state" ? 0o700 : 0o600, name)
        }
        let key = installation.path("state/master.key")
        let kept = try Data(contentsOf: URL(filePath: key))
        try Data(repeating: 1, count: 32).write(to: URL(filePath: key))
        try set(0o600, "state/master.key")
        #expect(try installation.diagnose().outcome("master key fits") == "failure")
        try FileManager.default.removeItem(atPath: key)
        #expect(try installation.diagnose().outcome("master key") == "failure")
        try kept.write(to: URL(filePath: key))
        try set(0o600, "state/master.key")
        #expect(try installation.diagnose().status == 0)
        try Data("no database".utf8).write(to: URL(filePath: installation.path("state/merchantkeyd.sqlite")))
        try set(0o600, "state/merchantkeyd.sqlite")
        #expect(try installation.diagnose().outcome("database content") == "failure")
        #expect(
            try installation.diagnose("--config", installation.write("nonsense: 1\n", "n.yaml")).outcome("settings")
                == "failure")
    }

    @Test
    func `diagnose accepts a linked master key, and refuses readable, damaged and altered files of the databases`()
        throws
    {
        let (state, key) = (installation.path("state"), installation.path("kept.key"))
        try installation.start()
        installation.stop(SIGKILL)
        try FileManager.default.moveItem(atPath: "\(state)/master.key", toPath: key)
        try FileManager.default.createSymbolicLink(atPath: "\(state)/master.key", withDestinationPath: key)
        let linked = try installation.diagnose()
        #expect(linked.status == 0, "\(linked)")
        #expect(chmod("\(state)/merchantkeyd.sqlite-shm", 0o644) == 0)
        #expect(try installation.diagnose().outcome("database-shm") == "failure")
        #expect(try installation.failedStart("--state-directory", state).status == 1)
        #expect(chmod("\(state)/merchantkeyd.sqlite-shm", 0o600) == 0)
        try installation.start()
        installation.stop()
        try Data("no database".utf8).write(to: URL(filePath: "\(state)/claims.sqlite"))
        #expect(try installation.diagnose().outcome("claims content") == "failure")
        try FileManager.default.removeItem(atPath: "\(state)/claims.sqlite")
        let withoutClaims = try installation.diagnose()
        #expect(withoutClaims.status == 4 && withoutClaims.failures.isEmpty, "\(withoutClaims)")
        _ = try installation.sql("UPDATE migrations SET sha256 = zeroblob(32) WHERE version = 1")
        #expect(try installation.diagnose().outcome("database content") == "failure")
        let refused = try installation.failedStart("--state-directory", state)
        #expect(refused.status == 1 && refused.error.contains("v0001"), "\(refused.error)")
    }

    @Test(.enabled(if: geteuid() == 0, "only root can change a file's owner"))
    func `root checks a state directory as its owner would`() throws {
        let state = installation.path("state")
        #expect(chmod(installation.directory, 0o755) == 0)
        try installation.start()
        installation.stop()
        for name in try FileManager.default.subpathsOfDirectory(atPath: state) + ["."] {
            #expect(chown("\(state)/\(name)", 12345, 12345) == 0)
        }
        let found = try installation.diagnose()
        #expect(found.status == 0, "\(found)")
        #expect(chown("\(state)/master.key", 23456, 12345) == 0)
        #expect(try installation.diagnose().outcome("master key") == "failure")
        // The daemon accepts a master key that root owns, but not a database that root owns.
        #expect(chown("\(state)/master.key", 0, 0) == 0 && chmod("\(state)/master.key", 0o400) == 0)
        #expect(try installation.diagnose().outcome("master key") == "success")
        #expect(chown("\(state)/merchantkeyd.sqlite", 0, 0) == 0)
        let rootsDatabase = try installation.diagnose()
        #expect(rootsDatabase.outcome("database") == "failure", "\(rootsDatabase)")
        #expect(rootsDatabase.detail("database").contains("belongs to uid 0"), "\(rootsDatabase)")
    }

    @Test func `diagnose and the start fail if the write-ahead log is missing`() throws {
        try installation.start()
        #expect(try installation.ctl("merchant", "add", "merchant.com.example.last").status == 0)
        installation.stop(SIGKILL)
        #expect(try installation.diagnose().outcome("write-ahead log") == "success")
        try FileManager.default.removeItem(atPath: installation.path("state/merchantkeyd.sqlite-wal"))
        let found = try installation.diagnose()
        #expect(found.status == 1 && found.outcome("write-ahead log") == "failure", "\(found)")
        let table = try Installation.run([
            "\(Installation.programs)/merchantkeyctl", "diagnose", "--state-directory", installation.stateDirectory,
        ])
        #expect(table.status == 1 && table.output.contains("[logMissing]\n"), "\(table.output)")
        try installation.expectRefusedStart("logMissing")
    }

    @Test func `config check needs no daemon and refuses an invalid setting by name`() throws {
        func check(_ yaml: String) throws -> Installation.Outcome {
            try Installation.run([
                "\(Installation.programs)/merchantkeyctl", "--output", "json", "config", "check", "--config",
                try installation.write(yaml, "c.yaml"), "--state-directory", installation.path("state"),
            ])
        }
        let good = try check("backup:\n  directory: \(installation.directory)\n  every: 12h\n")
        #expect(good.status == 0, "\(good.output) \(good.error)")
        for (yaml, value) in [
            ("backup:\n  every: soon\n", "backup.every"), ("backup:\n  directory: here\n", "backup.directory"),
            ("backup:\n  keep: 0\n", "backup.keep"), ("audit:\n  head:\n    file: x\n", "audit.head.file"),
            ("audit:\n  heads: x\n", "audit.heads"), ("trust:\n  token-roots: [/nowhere]\n", "/nowhere"),
        ] {
            let bad = try check(yaml)
            #expect(bad.status == 1 && bad.refusalCode == "failed" && bad.error.contains(value), "\(bad.error)")
            #expect(bad.error.split(separator: "\n").count == 1, "\(bad.error)")
            #expect(try (bad.json()["problems"] as? [String])?.contains { $0.contains(value) } == true, "\(bad.output)")
        }
    }
}
