package import MerchantCore
import Vocabulary

/// Converts a sealed data key to and from its row in `data_keys`.
package enum DataKeyRow {
    package static let columns = "id, sealed_bytes, master_key_check, created_at"

    package static func dataKey(_ row: some StoredRow) throws -> SealedDataKey {
        SealedDataKey(
            identifier: try row.integer("id"), bytes: try row.bytes("sealed_bytes"),
            masterKeyCheck: try row.bytes("master_key_check"), createdAt: try row.timestamp("created_at"))
    }

    /// The values of ``columns``.
    package static func values(_ dataKey: SealedDataKey) -> Arguments {
        [dataKey.identifier, dataKey.bytes, dataKey.masterKeyCheck, dataKey.createdAt]
    }
}
