import Foundation
import Testing

/// The sources of the master key: a file, a command and a systemd credential.
@Suite struct MasterKeySourceTests {
    let installation: Installation

    init() throws { installation = try Installation() }

    /// Writes a new random master key to a file.
    ///
    /// - Returns: the file's path.
    private func createKey(_ name: String) throws -> String {
        let created = try Installation.run([
            "sh", "-c", "umask 077; head -c 32 /dev/urandom > \(installation.path(name))",
        ])
        try #require(created.status == 0, "\(created.error)")
        return installation.path(name)
    }

    private func identifier(_ file: String) throws -> String {
        try installation.ctlJSON("master-key", "identify", file)["masterKeyIdentifier"] as? String ?? ""
    }

    @Test(.onlyOnSQLite) func `a rotation replaces the key of the previous command by that of the current one`() throws
    {
        let (old, new) = (try createKey("old.key"), try createKey("new.key"))
        let first = try installation.write("master-key:\n  source: command\n  command: [/bin/cat, \(old)]\n", "1.yaml")
        try installation.start(config: first)
        _ = try KeyPopulation(20, certified: 5, by: installation.adminSocket)
        let refused = try installation.ctl("master-key", "rotate", "--yes")
        #expect(refused.status == 1 && refused.refusalCode == "masterKeyConflict", "\(refused.error)")
        #expect(try installation.ctl("master-key", "rotate", "--yes", "--data-key-only").status == 0)
        installation.stop()

        let newOnly = try installation.write(
            "master-key:\n  source: command\n  command: [/bin/cat, \(new)]\n", "2.yaml")
        let wrong = try installation.failedStart("--config", newOnly, "--state-directory", installation.path("state"))
        let (oldKey, newKey) = (try identifier(old), try identifier(new))
        #expect(wrong.startFinding == "masterKeyRejected", "\(wrong.error)")
        #expect(wrong.error.contains(oldKey) && wrong.error.contains(newKey), "\(wrong.error)")

        let withPrevious = try installation.write(
            """
            master-key:
              source: command
              command: [/bin/cat, \(new)]
              previous:
                source: command
                command: [/bin/cat, \(old)]
            """, "3.yaml")
        try installation.start(config: withPrevious)
        #expect(try installation.checkStatus() == 1)
        let dataKeyOnly = try installation.ctl("master-key", "rotate", "--yes", "--data-key-only")
        #expect(dataKeyOnly.status == 1 && dataKeyOnly.refusalCode == "masterKeyConflict", "\(dataKeyOnly.error)")
        let rotated = try installation.ctl("master-key", "rotate", "--yes")
        #expect(rotated.status == 0 && rotated.output.contains(newKey), "\(rotated.error)")
        #expect(FileManager.default.fileExists(atPath: old))
        installation.stop()
        try installation.start(config: newOnly)
        #expect(try installation.ctl("backup", "create", installation.path("b")).status == 0)
    }

    @Test(.onlyOnSQLite)
    func `a rotation keeps a master key that the operator put into the file, and the previous one`() throws {
        try installation.start()
        _ = try KeyPopulation(20, certified: 5, by: installation.adminSocket)
        installation.stop()
        let (file, new) = (installation.path("state/master.key"), try createKey("new.key"))
        // The state after a rotation that was killed before its first step.
        let leftover = try identifier(try createKey("state/master.key.next"))
        try FileManager.default.moveItem(atPath: file, toPath: file + ".old")
        try FileManager.default.copyItem(atPath: new, toPath: file)
        let old = try identifier(file + ".old")
        let config = try installation.write(
            "master-key:\n  previous:\n    source: file\n    file: \(file).old\n", "previous.yaml")
        try installation.start(config: config)
        func source() throws -> String? { try installation.ctlJSON("master-key", "status")["source"] as? String }
        #expect(try source() == "file \(file).old")
        let rotated = try installation.ctl("master-key", "rotate", "--yes")
        #expect(rotated.status == 0, "\(rotated.error)")
        #expect(try source() == "file \(file)")
        #expect(try identifier(file) == identifier(new))
        #expect(try identifier(file + ".old") == old)
        #expect(try identifier(file + ".next") == leftover)
        installation.stop()
        try installation.start()
        #expect(try installation.ctl("backup", "create", installation.path("b")).status == 0)
    }

    @Test func `a systemd credential is read from CREDENTIALS_DIRECTORY and cannot be rotated`() throws {
        let config = try installation.write(
            "master-key:\n  source: systemd-credential\n  credential: mk\n", "credential.yaml")
        let state = installation.path("state")
        let withoutDirectory = try installation.failedStart("--config", config, "--state-directory", state)
        #expect(withoutDirectory.error.contains("CREDENTIALS_DIRECTORY"), "\(withoutDirectory.error)")
        try FileManager.default.moveItem(atPath: try createKey("mk-new"), toPath: installation.path("mk"))
        #expect(chmod(installation.path("mk"), 0o440) == 0)
        try installation.start(config: config, environment: ["CREDENTIALS_DIRECTORY": installation.directory])
        let refused = try installation.ctl("master-key", "rotate", "--yes")
        #expect(refused.refusalCode == "masterKeyConflict", "\(refused.error)")
    }

    /// Runs merchantkeyctl on files of the daemon, outside the daemon's unit.
    private func runOffline(_ config: String, _ arguments: String...) throws -> Installation.Outcome {
        try Installation.run(
            ["\(Installation.programs)/merchantkeyctl"] + arguments + [
                "--config", config, "--state-directory", installation.stateDirectory,
            ])
    }

    private func credentialConfig() throws -> String {
        try installation.write(
            "environment: sandbox\nmaster-key:\n  source: systemd-credential\n  credential: mk\n", "credential.yaml")
    }

    @Test(.onlyOnSQLite)
    func `config check trusts the running daemon only for the credential that the daemon has read`() throws {
        let config = try credentialConfig()
        try installation.start()
        // A restart with these settings would be refused, because the running daemon reads its master key from a file.
        let changed = try runOffline(config, "config", "check")
        #expect(changed.status == 4 && changed.output.contains("not checked"), "\(changed.output) \(changed.error)")
        #expect(try installation.diagnose("--config", config).outcome("master key fits") == "warning")
        installation.stop()

        try FileManager.default.moveItem(
            atPath: installation.path("state/master.key"), toPath: installation.path("mk"))
        try installation.start(config: config, environment: ["CREDENTIALS_DIRECTORY": installation.directory])
        let same = try runOffline(config, "config", "check")
        #expect(same.status == 0 && same.output.contains("which the running daemon read"), "\(same.output)")
        #expect(try installation.diagnose("--config", config).outcome("master key fits") == "success")
        let other = try installation.write(
            "environment: sandbox\nmaster-key:\n  source: systemd-credential\n  credential: other\n", "other.yaml")
        #expect(try runOffline(other, "config", "check").status == 4)
    }

    @Test(.onlyOnSQLite)
    func `without the daemon, a credential is not checked, and commands for backups ask for a file`() throws {
        let config = try credentialConfig()
        let (backup, key) = (installation.path("b"), installation.path("mk"))
        try FileManager.default.moveItem(atPath: try createKey("mk-new"), toPath: key)
        try installation.start(config: config, environment: ["CREDENTIALS_DIRECTORY": installation.directory])
        #expect(try installation.ctl("backup", "create", backup).status == 0)
        installation.stop()

        #expect(try runOffline(config, "config", "check").status == 4)
        let diagnosis = try installation.diagnose("--config", config)
        #expect(diagnosis.status == 4 && diagnosis.outcome("settings") == "warning", "\(diagnosis)")
        #expect(diagnosis.outcome("master key fits") == "warning", "\(diagnosis)")
        for command in [["verify", "--offline", backup], ["restore", backup, "--replace"]] {
            func run(_ more: [String]) throws -> Installation.Outcome {
                try Installation.run(
                    ["\(Installation.programs)/merchantkeyctl", "backup"] + command + [
                        "--config", config, "--state-directory", installation.stateDirectory,
                    ] + more)
            }
            let refused = try run([])
            #expect(refused.status == 1 && refused.error.contains("--master-key-file"), "\(refused.error)")
            #expect(!refused.error.contains("LoadCredential"), "\(refused.error)")
            let accepted = try run(["--master-key-file", key])
            #expect(accepted.status == 0, "\(accepted.error)")
        }
    }

    @Test(arguments: [
        ("source: vault", "master-key.source"), ("source: command", "master-key.command"),
        ("source: command\n  command: [cat, x]", "master-key.command"),
        ("source: command\n  command: [/bin/cat]\n  timeout: 1d", "master-key.timeout"),
        ("credential: x", "master-key.source: systemd-credential"),
        ("source: systemd-credential\n  credential: a/b", "master-key.credential"),
        ("previous:\n    timeout: 3s", "master-key.previous.source: command"),
    ])
    func `the refusal of an invalid master key setting names the setting`(setting: String, named: String) throws {
        let config = try installation.write("master-key:\n  \(setting)\n", "bad.yaml")
        let refused = try installation.failedStart("--config", config, "--state-directory", installation.path("state"))
        #expect(refused.status == 1 && refused.error.contains(named), "\(refused.error)")
    }
}
