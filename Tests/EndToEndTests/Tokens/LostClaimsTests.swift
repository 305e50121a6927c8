import Foundation
import MerchantTestSupport
import Testing

/// Claims that are lost between two runs are reported: by `config check`, by `diagnose` and at the start.
@Suite(.onlyOnSQLite) struct LostClaimsTests {
    let installation: Installation
    let config: String

    init() throws {
        installation = try ClaimTests().startDaemon()
        config = try ClaimTests.config(of: installation)
    }

    private var claims: String { installation.path("state/claims.sqlite") }

    private func claim() throws {
        #expect(try installation.ctl("token", "decrypt", try installation.mintTokens(), "--claim").status == 0)
    }

    private func checkConfig() throws -> Installation.Outcome {
        try installation.ctl("config", "check", "--config", config, "--state-directory", installation.stateDirectory)
    }

    /// Expects that the next start has this finding, or none about claims if nil, and starts the daemon.
    private func expectFinding(_ code: String?, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let checked = try checkConfig()
        #expect(checked.status == (code == nil ? 0 : 4), "\(checked.error)", sourceLocation: sourceLocation)
        if let code {
            #expect(checked.output.contains("[\(code)]"), "\(checked.output)", sourceLocation: sourceLocation)
        }
        let diagnosed = try installation.diagnose("--config", config)
        #expect(diagnosed.status == (code == nil ? 0 : 4), sourceLocation: sourceLocation)
        #expect(
            diagnosed.codes.filter { $0.hasPrefix("claims") } == Set([code].compactMap(\.self)),
            sourceLocation: sourceLocation)
        #expect(
            diagnosed.outcome("next start") == (code == nil ? "success" : "warning"), sourceLocation: sourceLocation)
        try installation.start(config: config)
        if let code {
            #expect(installation.log.contains("finding=\(code)"), sourceLocation: sourceLocation)
        } else {
            #expect(!installation.log.contains("finding=claims"), sourceLocation: sourceLocation)
        }
    }

    @Test func `an older copy of the claims file is detected after a clean shutdown`() throws {
        try claim()
        installation.stop()
        let copy = installation.path("copy")
        try FileManager.default.copyItem(atPath: claims, toPath: copy)
        try expectFinding(nil)
        try claim()
        installation.stop()
        try FileManager.default.removeItem(atPath: claims)
        try FileManager.default.moveItem(atPath: copy, toPath: claims)
        try expectFinding("claimsOlder")
        // The next start does not report the loss again.
        installation.stop()
        try expectFinding(nil)
    }

    @Test func `an emptied log of the claims file is detected after a kill`() throws {
        try claim()
        installation.stop(SIGKILL)
        #expect(truncate(claims + "-wal", 0) == 0)
        try expectFinding("claimsOlder")
        installation.stop(SIGKILL)
        try expectFinding(nil)
    }

    @Test func `the log of an emptied file is kept, so that nothing is lost when the file is put back`() throws {
        let token = try installation.mintTokens()
        #expect(try installation.ctl("token", "decrypt", token, "--claim").status == 0)
        installation.stop(SIGKILL)
        for (file, checkStatus) in [(installation.database, 1), (claims, 4)] as [(String, Int32)] {
            let log = try Data(contentsOf: URL(filePath: file + "-wal"))
            #expect(!log.isEmpty)
            let copy = installation.path("copy")
            try FileManager.default.copyItem(atPath: file, toPath: copy)
            // SQLite treats a file of one byte as empty.
            for length in [0, 1] {
                #expect(truncate(file, length) == 0)
                let checked = try checkConfig()
                #expect(checked.status == checkStatus, "\(checked.output)\(checked.error)")
                #expect(try installation.diagnose("--config", config).status == 1)
            }
            if file == claims {
                try installation.start(config: config, answering: ["503"])
                #expect(try installation.findings().contains("claimsRefused"))
                installation.stop(SIGKILL)
            } else {
                let refused = try installation.failedStart([
                    "--config", config, "--state-directory", installation.stateDirectory,
                ])
                #expect(refused.startFinding == "logOfAnotherDatabase")
            }
            #expect(try Data(contentsOf: URL(filePath: file + "-wal")) == log)
            try FileManager.default.removeItem(atPath: file)
            try FileManager.default.moveItem(atPath: copy, toPath: file)
        }
        try expectFinding(nil)
        #expect(try installation.ctl("token", "decrypt", token, "--claim").refusalCode == "tokenAlreadyClaimed")
    }

    @Test func `an older claims file beside the log of the newer one is not used`() throws {
        installation.stop()
        try expectFinding(nil)
        try claim()
        installation.stop()
        let copy = installation.path("copy")
        try FileManager.default.copyItem(atPath: claims, toPath: copy)
        try expectFinding(nil)
        try claim()
        installation.stop()
        try expectFinding(nil)
        let token = try installation.mintTokens()
        #expect(try installation.ctl("token", "decrypt", token, "--claim").status == 0)
        installation.stop(SIGKILL)
        let newer = installation.path("newer")
        try FileManager.default.moveItem(atPath: claims, toPath: newer)
        try FileManager.default.moveItem(atPath: copy, toPath: claims)
        let checked = try checkConfig()
        #expect(checked.status == 4 && checked.output.contains("older than its write-ahead log"), "\(checked)")
        #expect(try installation.diagnose("--config", config).failures == ["claims content"])
        try installation.start(config: config, answering: ["503"])
        #expect(try installation.findings().contains("claimsRefused"))
        installation.stop(SIGKILL)
        try FileManager.default.removeItem(atPath: claims)
        try FileManager.default.moveItem(atPath: newer, toPath: claims)
        try expectFinding(nil)
        #expect(try installation.ctl("token", "decrypt", token, "--claim").refusalCode == "tokenAlreadyClaimed")
    }

    @Test func `after the use of an older claims file, the newer file is reported as older, because it lacks claims`()
        throws
    {
        try claim()
        installation.stop()
        let older = installation.path("older")
        try FileManager.default.copyItem(atPath: claims, toPath: older)
        try expectFinding(nil)
        try claim()
        installation.stop()
        let newer = installation.path("newer")
        try FileManager.default.moveItem(atPath: claims, toPath: newer)
        try FileManager.default.moveItem(atPath: older, toPath: claims)
        try expectFinding("claimsOlder")
        try claim()
        installation.stop()
        try FileManager.default.removeItem(atPath: claims)
        try FileManager.default.moveItem(atPath: newer, toPath: claims)
        try expectFinding("claimsOlder")
    }

    @Test func `an older claims file is detected also after a restore of the database`() throws {
        let backup = installation.path("a.backup")
        #expect(try installation.ctl("backup", "create", backup).status == 0)
        installation.stop()
        let older = installation.path("older")
        try FileManager.default.copyItem(atPath: claims, toPath: older)
        try expectFinding(nil)
        try claim()
        installation.stop()
        let restored = try installation.ctl(
            "backup", "restore", backup, "--replace", "--config", config, "--state-directory",
            installation.stateDirectory)
        #expect(restored.status == 0, "\(restored.error)")
        try FileManager.default.removeItem(atPath: claims)
        try FileManager.default.moveItem(atPath: older, toPath: claims)
        #expect(try installation.diagnose("--config", config).codes.contains("claimsOlder"))
    }

    @Test func `an empty claims file counts as missing`() throws {
        try claim()
        installation.stop()
        #expect(truncate(claims, 0) == 0)
        try expectFinding("claimsMissing")
        try claim()
        installation.stop()
        try expectFinding(nil)
    }
}
