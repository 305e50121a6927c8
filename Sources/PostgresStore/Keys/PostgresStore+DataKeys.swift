package import MerchantCore
import StoreCore
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
        try allRows("SELECT \(DataKeyRow.columns) FROM data_keys ORDER BY id", [], DataKeyRow.dataKey)
    }
}

extension StoreTransaction {
    func insert(_ dataKey: SealedDataKey) throws {
        try executeLater(
            "INSERT INTO data_keys (\(DataKeyRow.columns)) VALUES ($1, $2, $3, $4)", DataKeyRow.values(dataKey))
    }
}
