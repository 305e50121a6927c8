import GRDB
import MerchantCore
import Vocabulary

extension StoreReading {
    func merchant(_ identifier: MerchantIdentifier) throws -> Merchant? {
        try firstRow(
            "SELECT \(MerchantRow.columns) FROM merchants WHERE identifier = ?", [identifier.rawValue],
            MerchantRow.merchant)
    }

    func merchants(after cursor: MerchantIdentifier?, limit: Int) throws -> [Merchant] {
        try allRows(
            """
            SELECT \(MerchantRow.columns) FROM merchants
            WHERE removed_at IS NULL AND identifier > ? ORDER BY identifier LIMIT ?
            """, [cursor?.rawValue ?? "", max(0, limit)], MerchantRow.merchant)
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
