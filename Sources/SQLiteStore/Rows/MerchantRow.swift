import GRDB
import MerchantCore
import Vocabulary

/// Converts a merchant to and from its row in `merchants`.
enum MerchantRow {
    static let columns = "identifier, name, target_active_key_pairs, created_at, removed_at"

    static func merchant(_ row: Row) throws -> Merchant {
        Merchant(
            identifier: try row.merchantIdentifier("identifier"), name: try row.textIfAny("name"),
            targetActiveKeyPairs: try row.integer("target_active_key_pairs"),
            createdAt: try row.timestamp("created_at"),
            removedAt: try row.timestampIfAny("removed_at"))
    }

    static let insertion =
        "INSERT INTO merchants (identifier, name, target_active_key_pairs, created_at, removed_at) VALUES (?, ?, ?, ?, ?)"

    static func values(_ merchant: Merchant) -> StatementArguments {
        [
            merchant.identifier.rawValue, merchant.name, merchant.targetActiveKeyPairs,
            merchant.createdAt.millisecondsSince1970, merchant.removedAt?.millisecondsSince1970,
        ]
    }
}
