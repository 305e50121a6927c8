import GRDB
package import MerchantCore
import StoreCore

extension SQLiteStore: DataKeyRepository {
    package func dataKeys() throws -> [SealedDataKey] {
        try SQLiteErrors.translating { try pool.read { try StoreReader(db: $0).dataKeys() } }
    }

    /// Writes on the calling thread, and blocks that thread. Must not be called from inside ``write(_:)``, because both
    /// use the same connection.
    package func insert(_ dataKey: SealedDataKey) throws {
        try queue.writeNow { try StoreTransaction(db: $0).insert(dataKey) }
    }
}

extension StoreReading {
    func dataKeys() throws -> [SealedDataKey] {
        try allRows("SELECT \(DataKeyRow.columns) FROM data_keys ORDER BY id", [], DataKeyRow.dataKey)
    }
}

extension StoreTransaction {
    func insert(_ dataKey: SealedDataKey) throws {
        try execute(
            "INSERT INTO data_keys (\(DataKeyRow.columns)) VALUES (?, ?, ?, ?)", DataKeyRow.values(dataKey))
    }
}
