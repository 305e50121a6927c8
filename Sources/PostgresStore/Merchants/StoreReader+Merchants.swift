import MerchantCore
import StoreCore
import Vocabulary

extension StoreReading {
    func merchant(_ identifier: MerchantIdentifier) throws -> Merchant? {
        try connection.query(Self.query(identifier)).first.map(MerchantRow.merchant)
    }

    static func query(_ identifier: MerchantIdentifier) -> Query {
        Query("SELECT \(MerchantRow.columns) FROM merchants WHERE identifier = $1", [identifier.rawValue])
    }

    func merchants(_ filter: MerchantFilter, after cursor: MerchantIdentifier?, limit: Int) throws -> [Merchant] {
        // The condition is that of the partial index `merchants_below_target`.
        let condition =
            filter.isBelowTarget
            ? "removed_at IS NULL AND active_key_pairs < target_active_key_pairs" : "removed_at IS NULL"
        let (after, prefix) = (cursor?.rawValue ?? "", filter.identifierPrefix ?? "")
        // There is only one lower bound, so that PostgreSQL reads the index from the first result on.
        let lowerBound = after >= prefix ? "identifier > $1" : "identifier >= $1"
        return try allRows(
            """
            SELECT \(MerchantRow.columns) FROM merchants
            WHERE \(condition) AND \(lowerBound) AND identifier < $2 ORDER BY identifier LIMIT $3
            """, [max(after, prefix), prefix.endOfPrefixRange, max(0, limit)], MerchantRow.merchant)
    }

    func platformIntegrators(limit: Int) throws -> [MerchantIdentifier] {
        // The condition is that of the partial index `platform_integrators`.
        try allRows(
            """
            SELECT identifier FROM merchants
            WHERE removed_at IS NULL AND identifier LIKE 'platformintegrator._%'
            ORDER BY identifier LIMIT $1
            """, [max(0, limit)]
        ) { try $0.merchantIdentifier("identifier") }
    }
}
