import MerchantCore
import StoreCore
import Vocabulary

extension StoreReading {
    func merchantToken(_ identifier: MerchantTokenIdentifier) throws -> MerchantToken? {
        try firstRow(
            "SELECT \(MerchantTokenRow.columns) FROM merchant_tokens WHERE identifier = $1", [identifier.rawValue],
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
                "SELECT \(MerchantTokenRow.columns) FROM merchant_tokens WHERE identifier > $1 ORDER BY identifier LIMIT $2",
                [last, limit], MerchantTokenRow.token)
        }
        return try allRows(
            """
            SELECT \(MerchantTokenRow.columns) FROM merchant_tokens
            WHERE state = $1 AND identifier > $2 ORDER BY identifier LIMIT $3
            """, [state.rawValue, last, limit], MerchantTokenRow.token)
    }

    private func merchantTokens(
        of merchant: MerchantIdentifier, in state: MerchantToken.State, after last: String, _ limit: Int
    ) throws -> [MerchantToken] {
        try allRows(
            """
            SELECT \(MerchantTokenRow.columns) FROM merchant_tokens
            WHERE merchant_identifier = $1 AND state = $2 AND identifier > $3 ORDER BY identifier LIMIT $4
            """, [merchant.rawValue, state.rawValue, last, limit], MerchantTokenRow.token)
    }
}
