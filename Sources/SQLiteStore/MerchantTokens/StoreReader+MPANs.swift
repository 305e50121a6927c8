import MerchantCore
import StoreCore
import Vocabulary

extension StoreReading {
    func mpan(of token: MerchantTokenIdentifier) throws -> StoredMPAN? {
        try firstRow(
            """
            SELECT \(MPANRow.columns)
            FROM sealed_mpans CROSS JOIN merchant_tokens ON identifier = merchant_token_identifier
            WHERE merchant_token_identifier = ? AND erased = 0
            """, [token.rawValue], MPANRow.stored)
    }

    func mpans(after cursor: MerchantTokenIdentifier?, limit: Int) throws -> [StoredMPAN] {
        try allRows(
            """
            SELECT \(MPANRow.columns)
            FROM sealed_mpans CROSS JOIN merchant_tokens ON identifier = merchant_token_identifier
            WHERE merchant_token_identifier > ? AND erased = 0 ORDER BY merchant_token_identifier LIMIT ?
            """, [cursor?.rawValue ?? "", max(0, limit)], MPANRow.stored)
    }

    /// The number of account numbers that are sealed under another data key.
    func countSealedMPANs(notUnder dataKey: Int) throws -> Int {
        try firstRow(
            "SELECT count(*) AS sealed_mpans FROM sealed_mpans WHERE erased = 0 AND data_key_id <> ?", [dataKey]
        ) { try $0.integer("sealed_mpans") } ?? 0
    }

    func sealedMPANs(notUnder dataKey: Int, after row: Int, limit: Int) throws -> [SealedMPANRow] {
        try allRows(
            """
            SELECT sealed_mpans.id AS row, \(MPANRow.columns)
            FROM sealed_mpans CROSS JOIN merchant_tokens ON identifier = merchant_token_identifier
            WHERE sealed_mpans.id > ? AND erased = 0 AND data_key_id <> ? ORDER BY sealed_mpans.id LIMIT ?
            """, [row, dataKey, limit], MPANRow.sealedRow)
    }
}
