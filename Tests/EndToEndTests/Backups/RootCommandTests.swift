import Foundation
import Testing

/// Commands that root runs on the files of the daemon's user.
@Suite(.onlyOnSQLite, .enabled(if: geteuid() == 0, "only root can change a file's owner")) struct RootCommandTests {
    let installation: Installation

    init() throws { installation = try Installation() }

    private func run(_ arguments: String...) throws -> Installation.Outcome {
        try Installation.run(["\(Installation.programs)/merchantkeyctl"] + arguments)
    }

    @Test
    func `root restores and verifies as the owner of the state directory, and identifies the owner's key`() throws {
        let (state, backup) = (installation.stateDirectory, installation.path("b"))
        #expect(chmod(installation.directory, 0o755) == 0)
        try installation.start()
        #expect(try installation.ctl("backup", "create", backup).status == 0)
        installation.stop()
        for name in try FileManager.default.subpathsOfDirectory(atPath: state) + ["."] {
            #expect(chown("\(state)/\(name)", 12345, 12345) == 0)
        }
        #expect(chmod(backup, 0o600) == 0)
        // The owner must be able to read the backup.
        let refused = try run("backup", "restore", backup, "--replace", "--state-directory", state)
        #expect(refused.status == 1 && refused.error.contains("uid 12345"), "\(refused.error)")
        #expect(!refused.error.contains("belongs to"), "\(refused.error)")
        #expect(chown(backup, 12345, 12345) == 0)
        let restored = try run("backup", "restore", backup, "--replace", "--state-directory", state)
        #expect(restored.status == 0, "\(restored.error)")
        let database = try FileManager.default.attributesOfItem(atPath: "\(state)/merchantkeyd.sqlite")
        #expect(database[.ownerAccountID] as? Int == 12345)
        let verified = try run("backup", "verify", "--offline", backup, "--state-directory", state)
        #expect(verified.status == 0, "\(verified.error)")
        let identified = try run("master-key", "identify", "\(state)/master.key")
        #expect(identified.status == 0, "\(identified.error)")
    }

    @Test
    func `the master key command runs as the owner, and not at all if other users can change its program`()
        throws
    {
        let state = installation.stateDirectory
        #expect(chmod(installation.directory, 0o755) == 0)
        try installation.start()
        installation.stop()
        for name in try FileManager.default.subpathsOfDirectory(atPath: state) + ["."] {
            #expect(chown("\(state)/\(name)", 12345, 12345) == 0)
        }
        let users = installation.path("users")
        try Data().write(to: URL(filePath: users))
        #expect(chmod(users, 0o666) == 0)
        let script = try installation.write(
            "#!/bin/sh\ngrep ^Uid: /proc/self/status >>\(users)\ncat \(state)/master.key\n", "key.sh")
        #expect(chmod(script, 0o755) == 0)
        let config = try installation.write(
            "environment: sandbox\nmaster-key:\n  source: command\n  command: [\(script)]\n", "command.yaml")
        #expect(chmod(config, 0o644) == 0)
        let checked = try run("config", "check", "--run-commands", "--config", config, "--state-directory", state)
        #expect([0, 4].contains(checked.status), "\(checked.error)")
        let diagnosed = try run("diagnose", "--config", config, "--state-directory", state)
        let lines = try String(contentsOfFile: users, encoding: .utf8).split(separator: "\n")
        #expect(lines.count >= 2, "\(diagnosed.output)")
        for line in lines {
            #expect(line.split(whereSeparator: \.isWhitespace).dropFirst().allSatisfy { $0 == "12345" })
        }

        #expect(chmod(script, 0o757) == 0)
        try Data().write(to: URL(filePath: users))
        #expect(chmod(users, 0o666) == 0)
        #expect(
            try run("config", "check", "--run-commands", "--config", config, "--state-directory", state).status == 1)
        #expect(try run("diagnose", "--config", config, "--state-directory", state).status == 1)
        #expect(try Data(contentsOf: URL(filePath: users)).isEmpty)
    }
}
