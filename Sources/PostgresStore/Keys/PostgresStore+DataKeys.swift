package import MerchantCore
import Vocabulary

extension PostgresStore: DataKeyRepository {
    package func dataKeys() throws -> [SealedDataKey] {
        try readStoreNow { try $0.dataKeys() }
    }

    /// Writes on the calling thread, and blocks that thread. Must not be called from inside ``write(_:)``, because both
    /// use the same connection.
    package func insert(_ dataKey: SealedDataKey) throws { try writeNow { try $0.insert(dataKey) } }
}

extension StoreReading {
    func dataKeys() throws -> [SealedDataKey] {
        try allRows("SELECT id, sealed_bytes, master_key_check, created_at FROM data_keys ORDER BY id", []) { row in
            SealedDataKey(
                identifier: try row.integer("id"), bytes: try row.bytes("sealed_bytes"),
                masterKeyCheck: try row.bytes("master_key_check"), createdAt: try row.timestamp("created_at"))
        }
    }
}

extension StoreTransaction {
    func insert(_ dataKey: SealedDataKey) throws {
        try execute(
            "INSERT INTO data_keys (id, sealed_bytes, master_key_check, created_at) VALUES ($1, $2, $3, $4)",
            [dataKey.identifier, dataKey.bytes, dataKey.masterKeyCheck, dataKey.createdAt.millisecondsSince1970])
    }
}
