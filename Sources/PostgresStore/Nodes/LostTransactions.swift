package import MerchantCore
import StoreCore

/// The database lacks transactions that were committed: it does not contain an audit record that a daemon has seen.
package struct LostTransactions: Error, Hashable, CustomStringConvertible {
    /// The record that a daemon has seen.
    let known: AuditHead
    /// The sequence of the last record in the database; 0 if there is none.
    let last: Int

    package var description: String {
        "audit record \(known.sequence), which this daemon has seen, \(last < known.sequence ? "is missing" : "has another hash"), and the last audit record in the database is \(last)"
    }

    package var merchantError: MerchantError {
        MerchantError(
            .storeUnavailable,
            "the PostgreSQL database lacks transactions that were committed, so the daemon exits: \(self); after a failover, promote a standby that has these transactions, or start each daemon once with --accept-older-database"
        )
    }

    /// Compares the database with the last record that this daemon has seen.
    ///
    /// - Returns: the last record in the database; nil if there is none.
    /// - Throws: ``LostTransactions`` if the database does not contain the record `known`.
    static func check(_ known: AuditHead?, on connection: Connection) throws -> AuditHead? {
        let found = try connection.query(
            """
            SELECT audit_head.sequence, audit_head.hash, coalesce(audit.hash, '') AS known_hash
            FROM audit_head LEFT JOIN audit ON audit.sequence = $1 WHERE audit_head.id = 1
            """, [known?.sequence ?? 0]
        ).first
        let last = try found.map(AuditRow.head)
        if let known, try found?.bytes("known_hash") != known.hash {
            throw LostTransactions(known: known, last: last?.sequence ?? 0)
        }
        return last.flatMap { $0.sequence > 0 ? $0 : nil }
    }
}

extension PostgresDatabase {
    /// Compares the database with the last audit record that an earlier run of this daemon has seen. Blocks the calling
    /// thread.
    ///
    /// - Returns: what the database lacks; nil if nothing was lost.
    package func lostTransactions(since known: AuditHead) throws -> LostTransactions? {
        do {
            _ = try LostTransactions.check(known, on: try opener.open().connection)
            return nil
        } catch let lost as LostTransactions { return lost } catch { throw PostgresErrors.translated(error) }
    }
}
