import FoundationEssentials
import GRDB
package import MerchantCore
import Vocabulary

extension SQLiteStore: DataKeyRepository {
    package func dataKeys() throws -> [SealedDataKey] {
        try SQLiteErrors.translating { try pool.read { try Self.dataKeys(in: $0) } }
    }

    static func dataKeys(in db: Database) throws -> [SealedDataKey] {
        try Row.fetchAll(
            db, sql: "SELECT id, sealed_bytes, master_key_check, created_at FROM data_keys ORDER BY id"
        ).map { row in
            SealedDataKey(
                identifier: try row.decode(Int.self, forColumn: "id"), bytes: try row.bytes("sealed_bytes"),
                masterKeyCheck: try row.bytes("master_key_check"), createdAt: try row.timestamp("created_at"))
        }
    }

    /// Writes on the calling thread, and blocks that thread. Must not be called from inside ``write(_:)``, because both
    /// use the same connection.
    package func insert(_ dataKey: SealedDataKey) throws {
        try queue.writeNow { try Self.insert(dataKey, in: $0) }
    }

    static func insert(_ dataKey: SealedDataKey, in db: Database) throws {
        try db.execute(
            sql: "INSERT INTO data_keys (id, sealed_bytes, master_key_check, created_at) VALUES (?, ?, ?, ?)",
            arguments: [
                dataKey.identifier, Data(dataKey.bytes), Data(dataKey.masterKeyCheck),
                dataKey.createdAt.millisecondsSince1970,
            ])
    }
}
