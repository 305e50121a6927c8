import MerchantCore
import StoreCore
import Vocabulary

extension StoreReading {
    func merchantToken(_ identifier: MerchantTokenIdentifier) throws -> MerchantToken? {
        try firstRow(
            "SELECT \(MerchantTokenRow.columns) FROM merchant_tokens WHERE identifier = ?", [identifier.rawValue],
            MerchantTokenRow.token)
    }

    func merchantTokens(
        of merchants: Set<MerchantIdentifier>?, in state: MerchantToken.State?, after cursor: MerchantTokenIdentifier?,
        limit: Int
    ) throws -> [MerchantToken] {
        let (last, limit) = (cursor?.rawValue ?? "", max(0, limit))
        guard let merchants else { return try merchantTokens(in: state, after: last, limit) }
        // One query for each merchant and state, because the index sorts only the tokens of one merchant in one state.
        // The list of merchants is short, because a caller has permits for few merchants.
        let states = state.map { [$0] } ?? MerchantToken.State.allCases
        let found = try merchants.flatMap { merchant in
            try states.flatMap { try merchantTokens(of: merchant, in: $0, after: last, limit) }
        }
        return Array(found.sorted { $0.identifier < $1.identifier }.prefix(limit))
    }

    private func merchantTokens(in state: MerchantToken.State?, after last: String, _ limit: Int) throws
        -> [MerchantToken]
    {
        guard let state else {
            return try allRows(
                "SELECT \(MerchantTokenRow.columns) FROM merchant_tokens WHERE identifier > ? ORDER BY identifier LIMIT ?",
                [last, limit], MerchantTokenRow.token)
        }
        return try allRows(
            """
            SELECT \(MerchantTokenRow.columns) FROM merchant_tokens INDEXED BY merchant_tokens_by_state
            WHERE state = ? AND identifier > ? ORDER BY identifier LIMIT ?
            """, [state.rawValue, last, limit], MerchantTokenRow.token)
    }

    private func merchantTokens(
        of merchant: MerchantIdentifier, in state: MerchantToken.State, after last: String, _ limit: Int
    ) throws -> [MerchantToken] {
        try allRows(
            """
            SELECT \(MerchantTokenRow.columns) FROM merchant_tokens INDEXED BY merchant_tokens_of_merchant
            WHERE merchant_identifier = ? AND state = ? AND identifier > ? ORDER BY identifier LIMIT ?
            """, [merchant.rawValue, state.rawValue, last, limit], MerchantTokenRow.token)
    }
}
