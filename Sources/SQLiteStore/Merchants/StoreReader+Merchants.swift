import MerchantCore
import StoreCore
import Vocabulary

extension StoreReading {
    func merchant(_ identifier: MerchantIdentifier) throws -> Merchant? {
        try firstRow(
            "SELECT \(MerchantRow.columns) FROM merchants WHERE identifier = ?", [identifier.rawValue],
            MerchantRow.merchant)
    }

    func merchants(_ filter: MerchantFilter, after cursor: MerchantIdentifier?, limit: Int) throws -> [Merchant] {
        let (source, condition) =
            filter.isBelowTarget
            ? (
                "merchants INDEXED BY merchants_below_target",
                "removed_at IS NULL AND active_key_pairs < target_active_key_pairs"
            ) : ("merchants", "removed_at IS NULL")
        let (after, prefix) = (cursor?.rawValue ?? "", filter.identifierPrefix ?? "")
        // The query has a single lower bound, so that SQLite reads the index from the first result on.
        let lowerBound = after >= prefix ? "identifier > ?" : "identifier >= ?"
        return try allRows(
            """
            SELECT \(MerchantRow.columns) FROM \(source)
            WHERE \(condition) AND \(lowerBound) AND identifier < ? ORDER BY identifier LIMIT ?
            """, [max(after, prefix), prefix.endOfPrefixRange, max(0, limit)], MerchantRow.merchant)
    }

    func platformIntegrators(limit: Int) throws -> [MerchantIdentifier] {
        // The range contains all identifiers that begin with 'platformintegrator.', because '/' follows '.' in ASCII.
        try allRows(
            """
            SELECT identifier FROM merchants
            WHERE identifier > 'platformintegrator.' AND identifier < 'platformintegrator/' AND removed_at IS NULL
            ORDER BY identifier LIMIT ?
            """, [max(0, limit)]
        ) { try $0.merchantIdentifier("identifier") }
    }
}
