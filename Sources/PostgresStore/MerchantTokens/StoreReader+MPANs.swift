import MerchantCore
import StoreCore
import Vocabulary

extension StoreReading {
    func mpan(of token: MerchantTokenIdentifier) throws -> StoredMPAN? {
        try firstRow(
            """
            SELECT \(MPANRow.columns)
            FROM sealed_mpans JOIN merchant_tokens ON identifier = merchant_token_identifier
            WHERE merchant_token_identifier = $1 AND NOT erased
            """, [token.rawValue], MPANRow.stored)
    }

    func mpans(after cursor: MerchantTokenIdentifier?, limit: Int) throws -> [StoredMPAN] {
        // The condition is given for both identifiers, because PostgreSQL does not infer one condition from the other.
        // With only one condition, a merge join would read every row before `cursor`, too.
        try allRows(
            """
            SELECT \(MPANRow.columns)
            FROM sealed_mpans JOIN merchant_tokens ON identifier = merchant_token_identifier
            WHERE merchant_token_identifier > $1 AND identifier > $1 AND NOT erased
            ORDER BY merchant_token_identifier LIMIT $2
            """, [cursor?.rawValue ?? "", max(0, limit)], MPANRow.stored)
    }

    /// The number of account numbers that are sealed under another data key.
    func countSealedMPANs(notUnder dataKey: Int) throws -> Int {
        // Two ranges of the index instead of `<>`, for which PostgreSQL would read the whole index.
        try firstRow(
            """
            SELECT (SELECT count(*) FROM sealed_mpans WHERE NOT erased AND data_key_id < $1)
                + (SELECT count(*) FROM sealed_mpans WHERE NOT erased AND data_key_id > $1) AS sealed_mpans
            """, [dataKey]
        ) { try $0.integer("sealed_mpans") } ?? 0
    }

    func sealedMPANs(notUnder dataKey: Int, after row: Int, limit: Int) throws -> [SealedMPANRow] {
        try allRows(
            """
            SELECT sealed_mpans.id AS row, \(MPANRow.columns)
            FROM sealed_mpans JOIN merchant_tokens ON identifier = merchant_token_identifier
            WHERE sealed_mpans.id > $1 AND NOT erased AND data_key_id <> $2 ORDER BY sealed_mpans.id LIMIT $3
            """, [row, dataKey, limit], MPANRow.sealedRow)
    }
}
