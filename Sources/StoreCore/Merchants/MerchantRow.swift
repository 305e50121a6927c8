package import MerchantCore
import Vocabulary

/// Converts a merchant to and from its row in `merchants`.
package enum MerchantRow {
    /// The columns of the properties that an admin can change.
    package static let propertyColumns = ["name", "target_active_key_pairs"]

    package static let columns = "identifier, created_at, removed_at, \(propertyColumns.joined(separator: ", "))"

    package static func merchant(_ row: some StoredRow) throws -> Merchant {
        Merchant(
            identifier: try row.merchantIdentifier("identifier"), name: try row.textIfAny("name"),
            targetActiveKeyPairs: try row.integer("target_active_key_pairs"),
            createdAt: try row.timestamp("created_at"),
            removedAt: try row.timestampIfAny("removed_at"))
    }

    /// The values of ``columns``.
    package static func values(_ merchant: Merchant) -> Arguments {
        [merchant.identifier.rawValue, merchant.createdAt, merchant.removedAt] + propertyValues(merchant)
    }

    /// The values of ``propertyColumns``, the time of the merchant's removal, and the identifier.
    package static func updateValues(_ merchant: Merchant) -> Arguments {
        propertyValues(merchant) + [merchant.removedAt, merchant.identifier.rawValue]
    }

    private static func propertyValues(_ merchant: Merchant) -> Arguments {
        [merchant.name, merchant.targetActiveKeyPairs]
    }
}
