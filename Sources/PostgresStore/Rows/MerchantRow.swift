import MerchantCore
import Vocabulary

/// Converts a merchant to and from its row in `merchants`.
enum MerchantRow {
    static let columns = "identifier, created_at, removed_at, name, target_active_key_pairs"

    static func merchant(_ row: Row) throws -> Merchant {
        Merchant(
            identifier: try row.merchantIdentifier("identifier"), name: try row.textIfAny("name"),
            targetActiveKeyPairs: try row.integer("target_active_key_pairs"),
            createdAt: try row.timestamp("created_at"),
            removedAt: try row.timestampIfAny("removed_at"))
    }

    static let insertion = "INSERT INTO merchants (\(columns)) VALUES ($1, $2, $3, $4, $5)"

    static func values(_ merchant: Merchant) -> Arguments {
        [
            merchant.identifier.rawValue, merchant.createdAt.millisecondsSince1970,
            merchant.removedAt?.millisecondsSince1970, merchant.name, merchant.targetActiveKeyPairs,
        ]
    }

    /// A statement that writes the properties that an admin can change, and the time of the merchant's removal.
    static let update =
        "UPDATE merchants SET name = $1, target_active_key_pairs = $2, removed_at = $3 WHERE identifier = $4"

    static func updateValues(_ merchant: Merchant) -> Arguments {
        [
            merchant.name, merchant.targetActiveKeyPairs, merchant.removedAt?.millisecondsSince1970,
            merchant.identifier.rawValue,
        ]
    }
}
