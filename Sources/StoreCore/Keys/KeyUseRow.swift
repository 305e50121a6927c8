package import MerchantCore
import Vocabulary

/// Converts the uses of a key pair to and from their row in `key_uses`.
package enum KeyUseRow {
    /// `alarmed_at` is the time of the last event that reports the use of a revoked or destroyed key.
    package static let columns = """
        requests_count, requests_first, requests_last, decryptions_count, decryptions_first, decryptions_last,
        promotion_confirmed_at, alarmed_at, standby_use_reported_at
        """

    package static func use(_ row: some StoredRow) throws -> KeyUse {
        /// - Parameter prefix: the beginning of the names of three columns: `requests` or `decryptions`.
        func occurrences(_ prefix: String) throws -> Occurrences? {
            guard let first = try row.timestampIfAny("\(prefix)_first") else { return nil }
            return Occurrences(
                count: try row.integer("\(prefix)_count"), first: first, last: try row.timestamp("\(prefix)_last"))
        }
        return KeyUse(
            requests: try occurrences("requests"), decryptions: try occurrences("decryptions"),
            promotionConfirmedAt: try row.timestampIfAny("promotion_confirmed_at"),
            revokedUseReportedAt: try row.timestampIfAny("alarmed_at"),
            standbyUseReportedAt: try row.timestampIfAny("standby_use_reported_at"))
    }

    /// The values of ``columns``.
    package static func values(_ use: KeyUse) -> Arguments {
        countValues(use) + [use.promotionConfirmedAt, use.revokedUseReportedAt, use.standbyUseReportedAt]
    }

    /// The values of the first six of the ``columns``: the counts and their times.
    package static func countValues(_ use: KeyUse) -> Arguments {
        [
            use.requests?.count ?? 0, use.requests?.first, use.requests?.last, use.decryptions?.count ?? 0,
            use.decryptions?.first, use.decryptions?.last,
        ]
    }
}
