import GRDB
import MerchantCore
import Vocabulary

/// Converts a merchant to and from its row in `merchants`.
enum MerchantRow {
    /// The properties that an admin can change: the name of each column, and a function that returns its value.
    private static let properties: [(column: String, value: @Sendable (Merchant) -> (any DatabaseValueConvertible)?)] =
        [
            ("name", { $0.name }), ("target_active_key_pairs", { $0.targetActiveKeyPairs }),
        ]
    /// The names of the columns of ``properties``.
    static let propertyColumns = properties.map(\.column)

    static let columns = "identifier, created_at, removed_at, \(propertyColumns.joined(separator: ", "))"

    static func merchant(_ row: Row) throws -> Merchant {
        Merchant(
            identifier: try row.merchantIdentifier("identifier"), name: try row.textIfAny("name"),
            targetActiveKeyPairs: try row.integer("target_active_key_pairs"),
            createdAt: try row.timestamp("created_at"),
            removedAt: try row.timestampIfAny("removed_at"))
    }

    static let insertion =
        "INSERT INTO merchants (\(columns)) VALUES (?, ?, ?\(String(repeating: ", ?", count: properties.count)))"

    static func values(_ merchant: Merchant) -> StatementArguments {
        [
            merchant.identifier.rawValue, merchant.createdAt.millisecondsSince1970,
            merchant.removedAt?.millisecondsSince1970,
        ] + propertyValues(merchant)
    }

    /// A statement that writes the properties and the time of the merchant's removal.
    static let update =
        "UPDATE merchants SET \(propertyColumns.map { "\($0) = ?, " }.joined())removed_at = ? WHERE identifier = ?"

    static func updateValues(_ merchant: Merchant) -> StatementArguments {
        propertyValues(merchant) + [merchant.removedAt?.millisecondsSince1970, merchant.identifier.rawValue]
    }

    private static func propertyValues(_ merchant: Merchant) -> StatementArguments {
        StatementArguments(properties.map { $0.value(merchant) })
    }
}
