import Foundation
import GRDB
import MerchantCore
import SQLiteStore
import Schema
import Testing
import Vocabulary

/// How a database with several migrations is upgraded. The later migrations exist only here: release 0.1.0 has one.
@Suite struct MigrationTests {
    static let second = (name: "v0002_note", sql: "CREATE TABLE notes (text TEXT NOT NULL) STRICT;")
    static let third = (name: "v0003_more", sql: "INSERT INTO notes (text) SELECT identifier FROM merchants;")

    let temporary: TemporaryStore

    init() throws { temporary = try TemporaryStore() }

    @Test func `a database of an earlier version is upgraded and keeps its content`() async throws {
        let keyPair = try await temporary.onboard(certificateEnds: Sample.time.adding(.seconds(60)))
        try temporary.store.close()
        let store = try SQLiteStore.open(
            path: temporary.path, migrations: Schema.migrations + [Self.second, Self.third])
        try store.readNow { reader throws in
            #expect(try reader.counts(at: Sample.time).merchants == 1)
            #expect(try reader.keyPair(keyPair.publicKeyHash) == keyPair)
        }
        #expect(try await store.quickCheck() == [])
        try store.close()
        try temporary.withSeparateConnection { db throws in
            #expect(try Int.fetchOne(db, sql: "PRAGMA user_version") == 3)
            #expect(
                try String.fetchAll(db, sql: "SELECT name FROM migrations ORDER BY version")
                    == Schema.migrations.map(\.name) + [Self.second.name, Self.third.name])
            #expect(try String.fetchAll(db, sql: "SELECT text FROM notes") == [Sample.merchant.rawValue])
        }
    }

    @Test func `a program that lacks the last migrations refuses the database`() async throws {
        try temporary.store.close()
        try SQLiteStore.open(path: temporary.path, migrations: Schema.migrations + [Self.second]).close()
        let refusal = await refusal { _ = try SQLiteStore.open(path: temporary.path) }
        #expect(refusal?.code == .storeUnavailable)
        #expect(try temporary.withSeparateConnection { try Int.fetchOne($0, sql: "PRAGMA user_version") } == 2)
    }

    @Test func `a program whose applied migration has another text refuses the database`() async throws {
        try temporary.store.close()
        try SQLiteStore.open(path: temporary.path, migrations: Schema.migrations + [Self.second]).close()
        let edited = (name: Self.second.name, sql: Self.second.sql + " ")
        let refusal = await refusal {
            _ = try SQLiteStore.open(path: temporary.path, migrations: Schema.migrations + [edited])
        }
        #expect(refusal?.code == .storeUnavailable)
        #expect(refusal?.detail.contains(Self.second.name) == true)
    }

    @Test func `a migration that fails leaves the database at the version before it`() async throws {
        try temporary.store.close()
        let broken = (name: "v0003_broken", sql: "CREATE TABLE more (a) STRICT; INSERT INTO nowhere VALUES (1);")
        let refusal = await refusal {
            _ = try SQLiteStore.open(path: temporary.path, migrations: Schema.migrations + [Self.second, broken])
        }
        #expect(refusal != nil)
        #expect(try temporary.withSeparateConnection { try Int.fetchOne($0, sql: "PRAGMA user_version") } == 2)
        let store = try SQLiteStore.open(path: temporary.path, migrations: Schema.migrations + [Self.second])
        #expect(store.health == .ready)
        try store.close()
    }
}
