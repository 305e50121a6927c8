import Foundation
import GRDB
import MerchantCore
import SQLiteStore
import Schema
import Testing
import Vocabulary

@Suite struct OpeningTests {
    /// Each test has its own instance of the suite, and so its own store.
    let temporary: TemporaryStore

    init() throws { temporary = try TemporaryStore() }

    @Test func `the writing connection syncs every commit and overwrites deleted content`() throws {
        let settings = try temporary.store.settings()
        #expect(settings["journal_mode"] == "wal")
        #expect(settings["synchronous"] == "2")
        #expect(settings["foreign_keys"] == "1")
        #expect(settings["secure_delete"] == "1")
        #expect(settings["trusted_schema"] == "0")
        #expect(settings["cell_size_check"] == "1")
        #expect(settings["busy_timeout"] == "5000")
    }

    @Test func `only the owner can access the database, its log and its shared memory`() async throws {
        try await temporary.onboard()
        for suffix in ["", "-wal", "-shm"] { #expect(try mode(of: temporary.path + suffix) == 0o600) }
    }

    @Test(arguments: [0o640, 0o604, 0o660])
    func `a database that other users can access is refused`(permissions: Int) async throws {
        try temporary.store.close()
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: temporary.path)
        let refusal = await refusal { _ = try SQLiteStore.open(path: temporary.path) }
        #expect(refusal?.code == .storeUnavailable)
        #expect(refusal?.detail.contains("expected 600") == true)
    }

    @Test func `a symbolic link instead of the database is refused`() async throws {
        try temporary.store.close()
        let link = temporary.directory.appending(path: "link.db").path
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: temporary.path)
        let refusal = await refusal { _ = try SQLiteStore.open(path: link) }
        #expect(refusal?.detail.contains("not a regular file") == true)
    }

    @Test func `a missing directory is refused with the system's reason`() async {
        let refusal = await refusal { _ = try SQLiteStore.open(path: "/nowhere/at/all/merchants.db") }
        #expect(refusal?.code == .storeUnavailable)
        #expect(refusal?.detail.contains("No such file or directory") == true)
    }

    @Test func `stored values are found after the store was closed and opened again`() async throws {
        let keyPair = try await temporary.onboard(certificateEnds: Sample.time.adding(.seconds(60)))
        try await temporary.store.write { try $0.setDaemonValue("name", "one") }
        try temporary.store.close()
        #expect(temporary.store.health != .ready)
        await #expect(throws: MerchantError.self) {
            try await temporary.store.write { try $0.setDaemonValue("a", "b") }
        }

        let again = try SQLiteStore.open(path: temporary.path)
        #expect(again.health == .ready)
        try again.readNow { reader throws in
            #expect(try reader.merchant(Sample.merchant) == Sample.record(Sample.merchant))
            #expect(try reader.keyPair(keyPair.publicKeyHash) == keyPair)
            #expect(try reader.certificates(of: keyPair.publicKeyHash).count == 1)
            #expect(try reader.daemonValue("name") == "one")
        }
        #expect(try again.dataKeys() == [Sample.dataKey])
        #expect(try await again.quickCheck() == [])
        try again.close()
    }

    @Test func `a database that a newer version wrote is refused and not changed`() async throws {
        try temporary.store.close()
        try temporary.withSeparateConnection { try $0.execute(sql: "PRAGMA user_version = 99") }
        let refusal = await refusal { _ = try SQLiteStore.open(path: temporary.path) }
        #expect(refusal?.code == .storeUnavailable)
        #expect(
            refusal?.detail.contains("schema version 99, this program supports at most \(Schema.migrations.count)")
                == true)
        #expect(try temporary.withSeparateConnection { try Int.fetchOne($0, sql: "PRAGMA user_version") } == 99)
    }

    @Test func `a database created with a different text of a migration is refused`() async throws {
        try temporary.store.close()
        try temporary.withSeparateConnection { try $0.execute(sql: "UPDATE migrations SET sha256 = zeroblob(32)") }
        let refusal = await refusal { _ = try SQLiteStore.open(path: temporary.path) }
        #expect(refusal?.detail.contains("v0001_initial") == true)
    }

    @Test(arguments: [0, 1234])
    func `another program's database is refused and not changed`(applicationID: Int) async throws {
        let directory = try makeDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = directory.appending(path: "other.db").path
        try withSeparateConnection(to: path) {
            try $0.execute(sql: "CREATE TABLE t (a); PRAGMA application_id = \(applicationID)")
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        let before = try Data(contentsOf: URL(filePath: path))
        let refusal = await refusal { _ = try SQLiteStore.open(path: path) }
        #expect(refusal?.detail.contains("'\(path)' is another program's database") == true)
        #expect(try Data(contentsOf: URL(filePath: path)) == before)
    }

    @Test func `a file that is not a database is refused`() async throws {
        let directory = try makeDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = directory.appending(path: "text.txt").path
        try Data(repeating: 0x41, count: 5000).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        let refusal = await refusal { _ = try SQLiteStore.open(path: path) }
        #expect(refusal?.code == .storeUnavailable)
        #expect(refusal?.detail.contains("SQLite 26") == true)
    }

    @Test func `an empty file becomes a database of the latest version`() throws {
        let directory = try makeDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = directory.appending(path: "merchants.db").path
        try Data().write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        try SQLiteStore.open(path: path).close()
        let (version, names) = try withSeparateConnection(to: path) { db in
            (
                try Int.fetchOne(db, sql: "PRAGMA user_version"),
                try String.fetchAll(db, sql: "SELECT name FROM migrations ORDER BY version")
            )
        }
        #expect(version == Schema.migrations.count)
        #expect(names == Schema.migrations.map(\.name))
    }

    @Test func `every table is STRICT`() throws {
        let loose = try temporary.withSeparateConnection {
            try String.fetchAll(
                $0,
                sql:
                    "SELECT name FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite_%' AND strict = 0"
            )
        }
        #expect(loose == [])
    }
}
