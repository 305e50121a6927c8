import CSQLite
import GRDB
import MerchantCore
import SQLiteStore
import Synchronization
import Testing
import Vocabulary

/// The work of the queries and changes of merchant tokens does not depend on the number of rows.
@Suite struct TokenNotificationPlanTests {
    /// Calls the methods of the ports of merchant tokens, except for those of account numbers.
    private func useEverything(_ store: SQLiteStore) async throws {
        let (merchant, time) = (Sample.merchant, Sample.time)
        try await store.write { transaction in
            if try transaction.merchant(merchant) == nil { try transaction.insert(Sample.record(merchant)) }
            try transaction.store(Sample.merchantToken(1))
            try transaction.recordPayments([
                MerchantTokenPayment(
                    identifier: Sample.token(2), merchantIdentifier: merchant,
                    times: Occurrences(count: 1, first: time, last: time))
            ])
            try transaction.insert(
                TokenNotificationPath(
                    secret: String(repeating: "a", count: 32), merchantIdentifier: merchant, createdAt: time))
            for number in -2 ... -1 {
                try transaction.insertTokenNotification(
                    Sample.tokenEvent(number), of: merchant, from: "a", at: time)
            }
            var notification = try #require(try transaction.tokenNotification(Sample.tokenEvent(-2), of: merchant))
            (notification.failures, notification.firstFailedAt) = (1, time)
            notification.dueAt = time.adding(.seconds(1000))
            try transaction.update(notification, at: time)
            notification.state = .done
            try transaction.update(notification, at: time)
            _ = try transaction.removeTokenNotifications(
                in: Set(TokenNotification.State.allCases), receivedBefore: time, limit: 10)
        }
        try store.readNow { reader throws in
            for merchants in [nil, [merchant]] as [Set<MerchantIdentifier>?] {
                for state in [nil, .linked] as [MerchantToken.State?] {
                    _ = try reader.merchantTokens(of: merchants, in: state, after: Sample.token(0), limit: 10)
                }
            }
            _ = try reader.merchantToken(Sample.token(1))
            _ = try reader.nextTokenNotifications(dueAt: time, excluding: [merchant], limit: 10)
            _ = try reader.waitingTokenNotifications()
            _ = try reader.waitingTokenNotifications(from: "a")
            _ = try reader.tokenNotificationPath("a")
            _ = try reader.tokenNotificationPaths(of: merchant)
        }
    }

    /// The statements that the store executes for merchant tokens, with a parameter for each value.
    private func statements() async throws -> Set<String> {
        let statements = Mutex<Set<String>>([])
        let traced = try TemporaryStore(trace: { sql in statements.withLock { _ = $0.insert(sql) } })
        try await useEverything(traced.store)
        return statements.withLock { $0 }.filter { sql in
            ["SELECT ", "UPDATE ", "DELETE ", "INSERT "].contains { sql.hasPrefix($0) } && sql.contains("token")
        }
    }

    @Test func `no query about merchant tokens scans a table or sorts`() async throws {
        let temporary = try TemporaryStore()
        let executed = try await statements().filter { !$0.hasPrefix("INSERT ") }
        #expect(executed.count > 12)
        try temporary.withSeparateConnection { db in
            for sql in executed {
                let statement = try db.makeStatement(sql: "EXPLAIN QUERY PLAN \(sql)")
                statement.setUncheckedArguments(
                    StatementArguments([Int?](repeating: nil, count: sql.count { $0 == "?" })))
                for row in try Row.fetchAll(statement) {
                    let step: String = row["detail"]
                    // A parameter, not a table.
                    if step.hasPrefix("SCAN json_each ") { continue }
                    #expect(!step.hasPrefix("SCAN ") && !step.contains("TEMP B-TREE"), "\(step) in \(sql)")
                }
            }
        }
    }

    @Test func `no statement about notifications does more work for a lane of 100,000 than for a few`() async throws {
        let executed = try await statements()
        var work: [[String: Int]] = []
        for isLarge in [false, true] {
            let temporary = try TemporaryStore()
            try await temporary.store.write { try $0.insert(Sample.record(Sample.merchant)) }
            try temporary.withSeparateConnection { db in
                try fill(db, inOneLane: isLarge ? 100_000 : 20, others: isLarge ? 5_000 : 20)
                work.append(try steps(of: executed, db))
            }
        }
        #expect(work[0].count == 10)
        for (name, steps) in work[0] {
            // The work differs only if a removal has fewer rows than its limit.
            #expect(try #require(work[1][name]) <= steps + 20, "\(name)")
        }
    }

    /// A time after the due time of all notifications that ``fill(_:inOneLane:others:)`` stores, except for those that
    /// are blocked or overtaken.
    private static let now = Sample.time.millisecondsSince1970
    private static let never = now * 2

    /// Stores a lane `long` with many waiting notifications, a lane `failed` with many overtaken ones, many blocked
    /// lanes, and many closed notifications.
    private func fill(_ db: Database, inOneLane long: Int, others count: Int) throws {
        try db.execute(sql: "BEGIN")
        let lanes = [("'long'", long), ("'failed'", count), ("'lane-' || value", count), ("'closed'", count)]
        for (source, count) in lanes {
            try db.execute(
                sql: """
                    WITH RECURSIVE numbers (value) AS (
                        SELECT 1 UNION ALL SELECT value + 1 FROM numbers WHERE value < ?
                    )
                    INSERT INTO token_notifications (event_id, merchant_identifier, source, received_at, state, due_at)
                    SELECT printf('%s-%d', \(source), value), ?, \(source), value, 'waiting', value FROM numbers
                    """, arguments: [count, Sample.merchant.rawValue])
        }
        let failure = """
            UPDATE token_notifications
            SET failures = 1, first_failed_at = 1, due_at = ?, attempted_at = 1, is_overtaken = 1
            """
        try db.execute(sql: "\(failure) WHERE source GLOB 'lane-*'", arguments: [Self.never])
        try db.execute(
            sql: "\(failure) WHERE source = 'failed' AND received_at < ?", arguments: [Self.never, count])
        try db.execute(sql: "UPDATE token_notifications SET state = 'unknown' WHERE source = 'closed'")
        try db.execute(sql: "COMMIT")
    }

    /// How many instructions SQLite's virtual machine executes for statements of the store, with those of the triggers.
    private func steps(of executed: Set<String>, _ db: Database) throws -> [String: Int] {
        /// Executes the statement that contains `part`, and undoes its changes.
        func steps(_ part: String, _ arguments: StatementArguments) throws -> Int {
            let sql = try #require(executed.first { $0.contains(part) }, "\(part)")
            let statement = try db.makeStatement(sql: sql)
            try db.inSavepoint {
                let rows = try Row.fetchCursor(statement, arguments: arguments)
                while try rows.next() != nil {}
                return .rollback
            }
            return Int(sqlite3_stmt_status(statement.sqliteStatement, SQLITE_STMTSTATUS_VM_STEP, 0))
        }
        func first(of source: String) throws -> Int? {
            try Int.fetchOne(
                db, sql: "SELECT min(sequence) FROM token_notifications WHERE source = ?", arguments: [source])
        }
        let (merchant, now, never) = (Sample.merchant.rawValue, Self.now, Self.never)
        let (insertion, update) = ("INSERT INTO token_notifications ", "UPDATE token_notifications\n")
        return [
            "arrival": try steps(insertion, ["new", merchant, "long", now, now]),
            "arrival in a new lane": try steps(insertion, ["new", merchant, "new", now, now]),
            "repeat": try steps(insertion, ["long-1", merchant, "long", now, now]),
            "closing": try steps(update, ["done", 0, nil, now, nil, now, 0, try first(of: "long")]),
            "failure": try steps(update, ["waiting", 1, now, never, "no", now, 1, try first(of: "long")]),
            "repeated failure": try steps(update, ["waiting", 2, 1, never + 1, "no", now, 1, try first(of: "failed")]),
            "next": try steps("FROM token_notification_lanes", [now, "[]", 10]),
            "removal": try steps("DELETE FROM token_notifications", ["unknown", now, 10]),
            "oldest": try steps("SELECT received_at FROM token_notifications", []),
            "of one address": try steps("FROM token_notification_sources", ["long"]),
        ]
    }
}
