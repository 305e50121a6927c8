package import MerchantCore
import Vocabulary

/// Converts a row of `merchants` to a merchant that is below its target number of key pairs.
package enum BelowTargetRow {
    package static let columns =
        "identifier, active_key_pairs, target_active_key_pairs, current_ends_at, had_active_key_pair"

    package static func merchant(_ row: some StoredRow) throws -> MerchantBelowTarget {
        MerchantBelowTarget(
            merchantIdentifier: try row.merchantIdentifier("identifier"),
            activeKeyPairs: try row.integer("active_key_pairs"),
            targetActiveKeyPairs: try row.integer("target_active_key_pairs"),
            currentCertificateExpiry: try row.timestampIfAny("current_ends_at"),
            hadActiveKeyPair: try row.flag("had_active_key_pair"))
    }
}
