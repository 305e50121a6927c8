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

    /// Valid settings of a daemon on PostgreSQL. A check does not connect to the server.
    private func setPostgreSQL(_ settings: inout SettingsText) {
        for name in ["backup.directory", "backup.every"] { settings[yaml: name] = nil }
        settings.set("store.kind", "postgresql")
        settings.set("store.postgresql.connection", "host=/run/postgresql")
    }

    @Test func `a check of a daemon on PostgreSQL needs no server`() throws {
        #expect(try prepare(setPostgreSQL).warnings == [])
    }

    @Test(arguments: [
        ("nowhere", false), ("directory", false), ("empty", false), ("readable.key", false), ("portal.key", false),
        ("webhook.secret", true),
    ])
    func `a password file holds one line and is readable for its owner only`(name: String, isAccepted: Bool) throws {
        func set(_ settings: inout SettingsText) {
            setPostgreSQL(&settings)
            settings.set("store.postgresql.password-file", fixture.path(name))
        }
        guard !isAccepted else {
            #expect(try prepare(set).warnings == [])
            return
        }
        let problems = try problems(set)
        #expect(problems.count == 1 && problems[0].contains("'store.postgresql.password-file'"), "\(problems)")
    }

    @Test func `a state directory with a SQLite database is refused for a daemon on PostgreSQL`() throws {
        let state = fixture.path("s0")
        try FileManager.default.createDirectory(
            atPath: state, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: state) }
        try Data([1]).write(to: URL(filePath: "\(state)/merchantkeyd.sqlite"))
        let problems = try problems(setPostgreSQL)
        #expect(problems.count == 1 && problems[0].contains("merchantkeyd.sqlite"), "\(problems)")
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

    @Test func `a check warns that it cannot read a systemd credential, and a start without the credential is refused`()
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

    @Test func `a check warns that it cannot read a credential with the previous master key`() throws {
        let warnings = try prepare { $0[yaml: "master-key.previous.source"] = "systemd-credential" }.warnings
        #expect(
            warnings.count { $0.contains("'master-key.previous'") && $0.contains("not checked") } == 1, "\(warnings)")
    }

    /// Settings that run a program, each with the settings that it needs.
    private static let commands: [(name: String, others: [String: String])] = [
        ("provisioning.activation.command", [:]), ("master-key.command", ["master-key.source": "command"]),
        ("master-key.previous.command", ["master-key.previous.source": "command"]),
    ]

    @Test(arguments: commands)
    func `a program that other users can change, or replace in its directory, is refused`(
        _ command: (name: String, others: [String: String])
    ) throws {
        let directory = fixture.path("bin")
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        let program = fixture.path("bin/program")
        try Data("#!/bin/sh\n".utf8).write(to: URL(filePath: program))
        try FileManager.default.createSymbolicLink(atPath: fixture.path("link"), withDestinationPath: program)
        func refusals(_ path: String, _ mode: mode_t, inDirectoryWith directoryMode: mode_t) throws -> Int {
            #expect(chmod(program, mode) == 0 && chmod(directory, directoryMode) == 0)
            do {
                _ = try prepare {
                    $0.set(command.name, [path])
                    for (name, value) in command.others { $0[yaml: name] = value }
                    if command.name == "master-key.command" { $0[yaml: "master-key.file"] = nil }
                }
                return 0
            } catch let error as SettingsError {
                return error.problems.count { $0.contains("'\(command.name)'") }
            }
        }
        try FileManager.default.createDirectory(
            atPath: fixture.path("links"), withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o755])
        try FileManager.default.createSymbolicLink(
            atPath: fixture.path("links/second"), withDestinationPath: "../bin/program")
        try FileManager.default.createSymbolicLink(
            atPath: fixture.path("first"), withDestinationPath: "links/second")
        for mode: mode_t in [0o755, 0o777] {
            #expect(chmod(fixture.path("links"), mode) == 0)
            let found = try refusals(fixture.path("first"), 0o755, inDirectoryWith: 0o755)
            #expect(found == (mode == 0o755 ? 0 : 1), "a link in the middle can be replaced: \(mode)")
        }
        if command.name == "provisioning.activation.command" {
            // A missing program is only a warning, unless others can create it.
            #expect(try refusals(fixture.path("bin/missing"), 0o755, inDirectoryWith: 0o755) == 0)
            #expect(try refusals(fixture.path("bin/missing"), 0o755, inDirectoryWith: 0o777) == 1)
        }
        for path in [program, fixture.path("link")] {
            #expect(try refusals(path, 0o755, inDirectoryWith: 0o755) == 0)
            // In a directory with the sticky bit, other users cannot replace the file.
            #expect(try refusals(path, 0o700, inDirectoryWith: 0o1777) == 0)
            for mode: mode_t in [0o777, 0o775, 0o757] {
                #expect(try refusals(path, mode, inDirectoryWith: 0o755) == 1, "\(mode)")
                #expect(try refusals(path, 0o755, inDirectoryWith: mode) == 1, "\(mode)")
            }
        }
    }

    @Test func `a missing master key of an existing database is a problem`() throws {
        try FileManager.default.createDirectory(
            atPath: fixture.path("s0"), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try Data().write(to: URL(filePath: fixture.path("s0/merchantkeyd.sqlite")))
        #expect(try problems { _ in }.contains { $0.contains("[masterKeyMissing]") })
    }
}
