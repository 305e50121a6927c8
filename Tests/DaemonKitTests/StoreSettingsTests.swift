import DaemonKit
import Foundation
import MerchantCore
import Testing

/// The settings under `store`.
@Suite struct StoreSettingsTests {
    private static func read(_ yaml: String) throws -> Settings {
        let file = URL(filePath: NSTemporaryDirectory()).appending(path: "store-\(UUID().uuidString).yaml")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(yaml.utf8).write(to: file)
        return try Settings.read(file: file.path, stateDirectory: "/state", environment: [:])
    }

    private static func postgresql(_ lines: String...) -> String {
        "store:\n  kind: postgresql\n  postgresql:\n" + lines.map { "    \($0)\n" }.joined()
    }

    private static let socket = "connection: host=/run/postgresql dbname=merchantkeyd"

    @Test func `the default is SQLite`() throws {
        #expect(try Self.read("{}").store.kind == .sqlite)
        #expect(try Self.read("store:\n  kind: sqlite\n").store.kind == .sqlite)
    }

    @Test(arguments: [
        socket, "connection: postgresql:///merchantkeyd?host=/run/postgresql",
        "connection: host=127.0.0.1 user=merchantkeyd",
        "connection: host=db1.example,db2.example target_session_attrs=read-write sslmode=verify-full sslrootcert=/ca.pem",
    ])
    func `a connection to a socket, to this machine or with verified TLS is accepted`(connection: String) throws {
        let settings = try Self.read(
            Self.postgresql(connection, "password-file: /etc/merchantkeyd/database.password"))
        #expect(settings.store.kind == .postgresql)
        #expect(
            settings.inForce.first { $0.name == "store.postgresql.password-file" }?.value
                == "/etc/merchantkeyd/database.password")
    }

    @Test func `on PostgreSQL the policy reports no missing backup by default`() throws {
        let settings = try Self.read("environment: production\n" + Self.postgresql(Self.socket))
        #expect(settings.backupPolicy.warningAfter == nil && settings.backupPolicy.criticalAfter == nil)
        for name in ["backup.missing.warn-after", "backup.missing.critical-after"] {
            #expect(settings.inForce.first { $0.name == name }?.value == "never")
        }
    }

    @Test(arguments: ["directory: /backups", "missing:\n    critical-after: 7d"])
    func `on PostgreSQL the policy reports a missing backup if a setting of backups is set`(_ backup: String) throws {
        let settings = try Self.read(
            "environment: production\nbackup:\n  \(backup)\n" + Self.postgresql(Self.socket))
        #expect(settings.backupPolicy.criticalAfter == .seconds(7 * 86_400))
    }

    struct Refused: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The settings that the problems name: each problem names one.
        let names: [String]
        let yaml: String
    }

    static let refused: [Refused] = [
        .init(testDescription: "an unknown kind", names: ["store.kind"], yaml: "store:\n  kind: mysql\n"),
        .init(
            testDescription: "a connection without the kind", names: ["store.postgresql.connection"],
            yaml: "store:\n  postgresql:\n    \(socket)\n"),
        .init(
            testDescription: "a password file with SQLite", names: ["store.postgresql.password-file"],
            yaml: "store:\n  kind: sqlite\n  postgresql:\n    password-file: /p\n"),
        .init(
            testDescription: "no connection", names: ["store.postgresql.connection"],
            yaml: "store:\n  kind: postgresql\n"),
        .init(
            testDescription: "an empty connection", names: ["store.postgresql.connection"],
            yaml: postgresql("connection: \"\"")),
        .init(
            testDescription: "not a connection string", names: ["store.postgresql.connection"],
            yaml: postgresql("connection: \"host\"")),
        .init(
            testDescription: "a password in the string", names: ["store.postgresql.connection"],
            yaml: postgresql("connection: host=/run/postgresql password=\(secret)")),
        .init(
            testDescription: "a password in the URI", names: ["store.postgresql.connection"],
            yaml: postgresql("connection: postgresql://user:\(secret)@127.0.0.1/merchantkeyd")),
        .init(
            testDescription: "a service, whose file could contain anything", names: ["store.postgresql.connection"],
            yaml: postgresql("connection: service=payments")),
        .init(
            testDescription: "another machine without TLS", names: ["store.postgresql.connection"],
            yaml: postgresql("connection: host=db.example")),
        .init(
            testDescription: "another machine with TLS that is not verified", names: ["store.postgresql.connection"],
            yaml: postgresql("connection: host=db.example sslmode=require")),
        .init(
            testDescription: "a relative password file", names: ["store.postgresql.password-file"],
            yaml: postgresql(socket, "password-file: database.password")),
    ]

    /// Must not be in any error.
    private static let secret = "correct-horse"

    @Test(arguments: refused)
    func `invalid settings are refused by name, and the error does not contain the secret`(_ row: Refused) throws {
        let error = try #require(throws: SettingsError.self) { try Self.read(row.yaml) }
        #expect(error.problems.count == row.names.count, "\(error.problems)")
        for name in row.names { #expect(error.problems.count { $0.contains("'\(name)'") } == 1, "\(error.problems)") }
        #expect(!error.description.contains(Self.secret))
    }
}
