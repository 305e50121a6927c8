import Foundation
import GRDB
import MerchantCore
import SQLiteStore
import Testing
import Vocabulary

/// Merchant tokens and their notifications in SQLite: constraints, length limits, integrity check, killed process.
@Suite struct MerchantTokenTests {
    let temporary: TemporaryStore
    var store: SQLiteStore { temporary.store }

    init() throws { temporary = try TemporaryStore() }

    private static let path = TokenNotificationPath(
        secret: String(repeating: "aZ09", count: 8), merchantIdentifier: Sample.merchant, createdAt: Sample.time)

    /// Stores a merchant with a token, a path, a waiting notification (1) and a closed one (2).
    private func storeMerchantWithToken() async throws {
        try await store.write { transaction in
            try transaction.insert(Sample.record(Sample.merchant))
            try transaction.store(Sample.merchantToken(1))
            try transaction.insert(Self.path)
            for number in 1...2 {
                try transaction.insertTokenNotification(
                    Sample.tokenEvent(number), of: Sample.merchant, from: "17.58.0.1", at: Sample.time)
            }
            var closed = try #require(try transaction.tokenNotification(Sample.tokenEvent(2), of: Sample.merchant))
            closed.state = .done
            try transaction.update(closed, at: Sample.time)
        }
    }

    @Test(arguments: [
        ("UPDATE merchant_tokens SET state = 'asleep'", "CHECK constraint failed"),
        ("UPDATE merchant_tokens SET event_type = 'UNLINK'", "CHECK constraint failed"),
        ("UPDATE merchant_tokens SET card = printf('%65537s', '')", "CHECK constraint failed"),
        ("UPDATE merchant_tokens SET notification_url = ''", "CHECK constraint failed"),
        ("UPDATE merchant_tokens SET last_seen_at = 1", "CHECK constraint failed"),
        ("UPDATE merchant_tokens SET first_seen_at = 1", "never changes"),
        ("UPDATE merchant_tokens SET merchant_identifier = 'merchant.other'", "never changes"),
        (
            "INSERT INTO merchant_tokens (identifier, merchant_identifier, state, first_seen_at, last_seen_at) SELECT 'a/b', identifier, 'linked', 1, 2 FROM merchants",
            "CHECK constraint failed"
        ),
        (
            "INSERT INTO merchant_tokens (identifier, merchant_identifier, state, first_seen_at, last_seen_at) VALUES ('a', 'merchant.unknown', 'linked', 1, 2)",
            "FOREIGN KEY"
        ),
        ("DELETE FROM token_notification_paths", "Apple may still send"),
        ("UPDATE token_notification_paths SET created_at = 1", "never changes"),
        (
            "INSERT INTO token_notification_paths (secret, merchant_identifier, created_at) SELECT '0123', identifier, 1 FROM merchants",
            "CHECK constraint failed"
        ),
        (
            "INSERT INTO token_notification_paths (secret, merchant_identifier, created_at) SELECT printf('%032d', value), identifier, 1 FROM json_each('[\((0..<100).map(String.init).joined(separator: ","))]'), merchants",
            "at most 100"
        ),
        ("DELETE FROM token_notifications", "Apple does not send it again"),
        ("UPDATE token_notifications SET state = 'waiting' WHERE state = 'done'", "never changes"),
        ("UPDATE token_notifications SET state = 'lost' WHERE state = 'waiting'", "CHECK constraint failed"),
        ("UPDATE token_notifications SET failures = 1 WHERE state = 'waiting'", "CHECK constraint failed"),
        ("UPDATE token_notifications SET source = 'b' WHERE state = 'waiting'", "never changes"),
        ("UPDATE token_notifications SET event_id = 'b' WHERE state = 'waiting'", "never changes"),
        (
            "UPDATE token_notifications SET finding = printf('%4097s', '') WHERE state = 'waiting'",
            "CHECK constraint failed"
        ),
        (
            "INSERT INTO token_notifications (event_id, merchant_identifier, source, received_at, state, due_at) SELECT 'a', identifier, 'a', 1, 'done', 1 FROM merchants",
            "a new notification waits"
        ),
        (
            "INSERT INTO token_notifications (event_id, merchant_identifier, source, received_at, state, due_at) SELECT 'a b', identifier, 'a', 1, 'waiting', 1 FROM merchants",
            "CHECK constraint failed"
        ),
        (
            "INSERT INTO token_notifications (event_id, merchant_identifier, source, received_at, state, due_at) SELECT 'a', identifier, printf('%65s', ''), 1, 'waiting', 1 FROM merchants",
            "CHECK constraint failed"
        ),
        (
            "INSERT INTO token_notifications (event_id, merchant_identifier, source, received_at, state, due_at) SELECT 'event-1', identifier, 'a', 1, 'waiting', 1 FROM merchants",
            "UNIQUE constraint failed"
        ),
    ])
    func `a statement that violates a constraint of merchant tokens is refused`(statement: String, expected: String)
        async throws
    {
        try await storeMerchantWithToken()
        let found: String? = try temporary.withSeparateConnection { db in
            do {
                try db.execute(sql: statement)
                return nil
            } catch let error as DatabaseError { return error.message ?? "" }
        }
        #expect(found?.contains(expected) == true, "\(statement): \(found ?? "no error")")
        try checkTotals(temporary)
    }

    @Test func `an event with texts that are too long is stored, without the images of the card`() async throws {
        var card = MerchantTokenCard(shortDescription: "Visa")
        card.cardArt = (0..<1000).map {
            .init(name: "\($0)", type: "image/png", url: String(repeating: "u", count: 128))
        }
        var token = Sample.merchantToken(1)
        token.card = card
        token.lastEvent = MerchantToken.LastEvent(
            identifier: Sample.tokenEvent(1), type: String(repeating: "ä", count: 1000), reason: "r",
            receivedAt: Sample.time)
        let report = MerchantTokenReport(
            merchantTokenIdentifier: token.identifier, eventIdentifier: Sample.tokenEvent(1),
            eventType: "UPDATED_CARD_ART", reason: "r", receivedAt: Sample.time, card: card, mpanIdentifier: nil)
        try await store.write { [token] transaction in
            try transaction.insert(Sample.record(Sample.merchant))
            try transaction.store(token)
            try transaction.append(
                Event(.merchantTokenCardArtUpdated, .notice, at: Sample.time, merchantToken: report, detail: "d"))
        }
        try store.readNow { reader throws in
            let stored = try reader.merchantToken(Sample.token(1))
            #expect(stored?.card == MerchantTokenCard(shortDescription: "Visa"))
            #expect(stored?.lastEvent?.type == String(repeating: "ä", count: 512))
            let event = try reader.events(EventQuery(.newest, limit: 1)).first?.event
            #expect(event?.merchantToken?.card == MerchantTokenCard(shortDescription: "Visa"))
            #expect(event?.merchantToken?.eventType == "UPDATED_CARD_ART")
        }
    }

    @Test func `a card that was altered to an invalid one is an error, not a crash`() async throws {
        try await storeMerchantWithToken()
        try temporary.withSeparateConnection {
            try $0.execute(sql: "UPDATE merchant_tokens SET card = '{\"cardArt\":1}'")
        }
        let refused = await refusal { _ = try await store.read { try $0.merchantToken(Sample.token(1)) } }
        #expect(refused?.code == .storeUnavailable)
    }

    @Test func `the integrity check finds a removed notification URL`() async throws {
        try await storeMerchantWithToken()
        try await store.write { try $0.append(Sample.entry(.tokenNotificationPathCreated, merchant: Sample.merchant)) }
        #expect(try await store.inconsistentContent() == [])
        try temporary.withSeparateConnection { db in
            let trigger = try String.fetchOne(
                db, sql: "SELECT sql FROM sqlite_schema WHERE name = 'token_notification_paths_are_kept'")
            try db.execute(
                sql: "DROP TRIGGER token_notification_paths_are_kept; DELETE FROM token_notification_paths;")
            try db.execute(sql: try #require(trigger))
        }
        let found = try await store.inconsistentContent()
        #expect(found.count == 1 && found.first?.contains("notification URL of merchant \(Sample.merchant)") == true)
    }

    @Test func `a notification whose write has returned is in the files that a killed process leaves`() async throws {
        try await store.write { try $0.insert(Sample.record(Sample.merchant)) }
        for number in 1...20 {
            let isNew = try await store.write {
                try $0.insertTokenNotification(
                    Sample.tokenEvent(number), of: Sample.merchant, from: "17.58.0.1", at: Sample.time)
            }
            #expect(isNew)
            if number % 5 == 0 { try await store.eraseCopiesOfDestroyedSecrets() }
            // A kill leaves the files as they are. The copy has the log, but not the shared memory.
            let left = try Files(copying: temporary.path)
            let reopened = try SQLiteStore.open(path: left.path)
            defer { try? reopened.close() }
            try reopened.readNow { reader throws in
                #expect(try reader.waitingTokenNotifications().waiting == number)
                #expect(try reader.tokenNotification(Sample.tokenEvent(number), of: Sample.merchant) != nil)
                #expect(try reader.nextTokenNotifications(dueAt: Sample.time, excluding: [], limit: 9).count == 1)
            }
            let isStillNew = try await reopened.write {
                try $0.insertTokenNotification(
                    Sample.tokenEvent(number), of: Sample.merchant, from: "other", at: Sample.time)
            }
            #expect(!isStillNew)
        }
    }
}

/// A copy of a database and its write-ahead log, in a directory that is removed with the value.
private final class Files {
    let path: String
    private let directory: URL

    init(copying original: String) throws {
        directory = try makeDirectory()
        path = directory.appending(path: "copy.db").path
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: original + suffix) {
            try FileManager.default.copyItem(atPath: original + suffix, toPath: path + suffix)
        }
    }

    deinit { try? FileManager.default.removeItem(at: directory) }
}
