import GRDB
import MerchantCore
package import Vocabulary

/// What an older copy of a database does not know of the newer one: key pairs that were withdrawn or made since.
package struct DatabaseDifference: Sendable {
    /// More key pairs than these are counted, not named.
    package static let mostNamed = 1000

    package struct Change: Hashable, Sendable {
        package let publicKeyHash: PublicKeyHash
        package let merchantIdentifier: MerchantIdentifier
        package let newer: KeyState
        /// nil: it is not in the older copy.
        package let older: KeyState?
    }

    /// Withdrawn in the newer one, and answering in the older.
    package let answeringAgain: [Change]
    package let answeringAgainCount: Int
    /// Not in the older one.
    package let missing: [Change]
    package let missingCount: Int
    /// Destroyed in the newer one, not in the older: their sealed private keys are back.
    package let undestroyed: [Change]
    package let undestroyedCount: Int

    /// Looks at both and changes neither.
    ///
    /// - Throws: `storeUnavailable` where one of them cannot be read.
    package init(from newer: String, to older: String) throws {
        self = try StoreFailure.translating {
            let queue = try DatabaseInspection.queue(newer)
            defer { try? queue.close() }
            // Outside of a transaction, where no database can be attached.
            return try queue.inDatabase { db in
                try db.execute(sql: "ATTACH DATABASE ? AS older", arguments: [older])
                return try Self(reading: db)
            }
        }
    }

    private init(reading db: Database) throws {
        func find(_ condition: String) throws -> (some: [Change], count: Int) {
            let rows = """
                FROM main.key_pairs AS newer LEFT JOIN older.key_pairs AS older
                    ON older.public_key_hash = newer.public_key_hash
                WHERE \(condition)
                """
            let some = try Row.fetchAll(
                db,
                sql: """
                    SELECT newer.public_key_hash, newer.merchant_identifier, newer.state AS newer,
                        coalesce(older.state, '') AS older
                    \(rows) ORDER BY newer.merchant_identifier, newer.id LIMIT \(Self.mostNamed)
                    """
            ).map { row in
                Change(
                    publicKeyHash: try row.publicKeyHash(), merchantIdentifier: try row.merchantIdentifier(),
                    newer: try row.oneOf(KeyState.self, "newer"),
                    older: try row.text("older").isEmpty ? nil : try row.oneOf(KeyState.self, "older"))
            }
            guard some.count == Self.mostNamed else { return (some, some.count) }
            return (some, try Int.fetchOne(db, sql: "SELECT count(*) \(rows)") ?? some.count)
        }
        (answeringAgain, answeringAgainCount) = try find(
            "newer.state IN ('revoked', 'destroyed') AND older.state IN ('standby', 'current', 'retiring')")
        (missing, missingCount) = try find("older.state IS NULL")
        (undestroyed, undestroyedCount) = try find(
            "newer.state = 'destroyed' AND older.state IN ('pending', 'revoked')")
    }

    /// One sentence that names the first few; nil where nothing differs.
    package var summary: String? {
        func named(_ changes: [Change], _ count: Int, _ words: String) -> String? {
            guard count > 0 else { return nil }
            let first = changes.prefix(5).map { "\($0.publicKeyHash) of \($0.merchantIdentifier)" }
            return "\(count) \(words): \(first.joined(separator: ", "))\(count > first.count ? " …" : "")"
        }
        let parts = [
            named(answeringAgain, answeringAgainCount, "withdrawn key pairs answer again"),
            named(missing, missingCount, "key pairs are not in it"),
            named(undestroyed, undestroyedCount, "destroyed private keys are back, sealed"),
        ].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }
}
