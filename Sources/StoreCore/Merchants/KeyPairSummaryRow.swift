package import MerchantCore
package import Vocabulary

/// Reads what a row in `merchants` contains about the merchant's key pairs.
package enum KeyPairSummaryRow {
    package static let columns = "identifier, active_key_pairs, newest_key_pair_id"

    /// - Parameter newest: the id of the newest key pair in a verified backup; 0 if there is none.
    package static func summary(
        _ row: some StoredRow, newestInBackup newest: Int
    ) throws -> (MerchantIdentifier, KeyPairSummary) {
        // The id is 0 if the merchant has no key pair.
        let id = try row.integer("newest_key_pair_id")
        return (
            try row.merchantIdentifier("identifier"),
            KeyPairSummary(
                active: try row.integer("active_key_pairs"), isNewestBackedUp: id == 0 ? nil : id <= newest)
        )
    }
}
