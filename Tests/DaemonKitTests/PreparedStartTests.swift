import DaemonKit
import Foundation
import Glibc
import MerchantTestSupport
import Testing

/// What a start reads before it creates a file.
@Suite struct PreparedStartTests {
    private let fixture: SettingsFixture

    init() throws { fixture = try SettingsFixture() }

    private func prepare(_ change: (inout SettingsText) -> Void) throws -> PreparedStart {
        var settings = fixture.validSettings(0)
        change(&settings)
        return try PreparedStart(
            file: fixture.write(settings, "c.yaml"), stateDirectory: nil, environment: [:],
            for: .check(runsCommands: false))
    }

    private func problems(_ change: (inout SettingsText) -> Void) throws -> [String] {
        try #require(throws: SettingsError.self) { try prepare(change) }.problems
    }

    @Test func `valid settings have no problem and no warning, and preparing creates no file`() throws {
        #expect(try prepare { _ in }.warnings == [])
        #expect(!FileManager.default.fileExists(atPath: fixture.path("s0")))
        #expect(!FileManager.default.fileExists(atPath: fixture.path("heads0")))
    }

    @Test func `all problems of the files are reported at once`() throws {
        let problems = try problems {
            $0.set("trust.token-roots", [fixture.path("garbage")])
            $0.set("sockets.admin.path", fixture.path("nowhere/a.sock"))
            $0.set("portal.tls.private-key", fixture.path("garbage"))
            $0.set("master-key.file", fixture.path("empty"))
        }
        for name in ["trust.token-roots", "sockets.admin.path", "portal.tls.private-key", "master-key.file"] {
            #expect(problems.count { $0.contains("'\(name)'") } == 1, "\(name): \(problems)")
        }
        #expect(problems.count == 4, "\(problems)")
    }

    @Test func `a place for backups or audit heads that cannot be written is a warning`() throws {
        let warnings = try prepare {
            $0.set("backup.directory", fixture.path("nowhere"))
            $0.set("audit.head.file", fixture.path("nowhere/heads"))
            $0.set("audit.head.syslog", fixture.path("nowhere.sock"))
        }.warnings
        for name in ["backup.directory", "audit.head.file", "audit.head.syslog"] {
            #expect(warnings.count { $0.contains("'\(name)'") } == 1, "\(name): \(warnings)")
        }
    }

    @Test func `a production daemon warns if the issuers lack the CA with which Apple issues certificates`() throws {
        #expect(
            try prepare { $0.set("environment", "production") }.warnings.count {
                $0.contains("9ed4b3b88c6a339cf1387895bda9ca6ea31a6b5ce9edf7511845923b0c8ac94c")
            } == 1)
    }

    @Test func `a check cannot check a systemd credential and says so, and a start without the credential is refused`()
        throws
    {
        var settings = fixture.validSettings(0)
        settings[yaml: "master-key.source"] = "systemd-credential"
        let file = try fixture.write(settings, "credential.yaml")
        func prepare(
            _ purpose: PreparedStart.Purpose, _ environment: [String: String] = [:]
        ) throws -> PreparedStart {
            try PreparedStart(file: file, stateDirectory: nil, environment: environment, for: purpose)
        }
        let warnings = try prepare(.check(runsCommands: false)).warnings
        #expect(warnings.count { $0.contains("'master-key.credential'") && $0.contains("not checked") } == 1)
        #expect(throws: SettingsError.self) { try prepare(.start) }
        // A check in the daemon's unit can read the credential.
        let credentials = ["CREDENTIALS_DIRECTORY": fixture.path("credentials")]
        let key = fixture.path("credentials/master-key")
        try FileManager.default.createDirectory(atPath: fixture.path("credentials"), withIntermediateDirectories: false)
        try Data("short".utf8).write(to: URL(filePath: key))
        #expect(chmod(key, 0o400) == 0)
        #expect(throws: SettingsError.self) { try prepare(.check(runsCommands: false), credentials) }
    }

    @Test func `a credential as the previous master key is a warning of a check`() throws {
        let warnings = try prepare { $0[yaml: "master-key.previous.source"] = "systemd-credential" }.warnings
        #expect(
            warnings.count { $0.contains("'master-key.previous'") && $0.contains("not checked") } == 1, "\(warnings)")
    }

    @Test func `a missing master key of an existing database is a problem`() throws {
        try FileManager.default.createDirectory(
            atPath: fixture.path("s0"), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try Data().write(to: URL(filePath: fixture.path("s0/merchantkeyd.sqlite")))
        #expect(try problems { _ in }.contains { $0.contains("[masterKeyMissing]") })
    }
}
