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
}
