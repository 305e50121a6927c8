import MerchantCore
import StoreCore
import Vocabulary

extension StoreReading {
    func backupCoverage(at now: Timestamp) throws -> BackupCoverage {
        var coverage = BackupCoverage()
        // New key pairs get higher ids. So a backup contains every key pair up to its `newest_key_pair_id`, and the
        // verified backup with the highest such id contains the most key pairs. That is also true for a backup with a
        // time in the future.
        let highestBackedUpId = try firstRow(
            """
            SELECT newest_key_pair_id FROM backups
            WHERE verified_at IS NOT NULL ORDER BY newest_key_pair_id DESC LIMIT 1
            """, []
        ) { try $0.integer("newest_key_pair_id") }
        let newest = try firstRow(
            """
            SELECT created_at, path FROM backups
            WHERE verified_at IS NOT NULL AND created_at <= $1
            ORDER BY newest_key_pair_id DESC, created_at DESC LIMIT 1
            """, [now]
        ) { (createdAt: try $0.timestamp("created_at"), path: try $0.text("path")) }
        (coverage.newestVerifiedCreatedAt, coverage.newestVerifiedPath) = (newest?.createdAt, newest?.path)
        coverage.verifiedInFuture = try firstRow(
            """
            SELECT max(created_at) AS created_at FROM backups
            WHERE verified_at IS NOT NULL AND created_at > $1
            """, [now]
        ) { try $0.timestampIfAny("created_at") }.flatMap { $0 }
        coverage.merchantsAwaitingBackup = try countMerchantsAwaitingBackup(after: highestBackedUpId)
        coverage.firstMerchantsAwaitingBackup = try allRows(
            """
            SELECT identifier AS merchant_identifier FROM merchants
            WHERE newest_key_pair_id > $1 ORDER BY newest_key_pair_id LIMIT $2
            """, [highestBackedUpId ?? 0, BackupCoverage.maximumNamed]
        ) { try $0.merchantIdentifier() }
        coverage.notBackedUpSince = try firstRow(
            """
            SELECT (
                SELECT min(stored_at) FROM certificates
                WHERE certificates.public_key_hash = key_pairs.public_key_hash
            ) AS since
            FROM key_pairs
            WHERE expires_at IS NOT NULL AND state <> 'destroyed' AND id > $1 ORDER BY id LIMIT 1
            """, [highestBackedUpId ?? 0]
        ) { try $0.timestamp("since") }
        return coverage
    }

    /// The number of merchants whose newest key pair has a higher id than every key pair in a verified backup.
    ///
    /// - Parameter highestBackedUpId: nil if there is no verified backup. The result is then the number of all
    ///   merchants with a key pair, which the table `totals` contains.
    private func countMerchantsAwaitingBackup(after highestBackedUpId: Int?) throws -> Int {
        guard let highestBackedUpId else {
            return try firstRow("SELECT value FROM totals WHERE name = 'merchantsWithKeyPair'", []) {
                try $0.integer("value")
            } ?? 0
        }
        return try firstRow(
            """
            SELECT count(*) AS merchants FROM merchants
            WHERE newest_key_pair_id > $1
            """, [highestBackedUpId]
        ) { try $0.integer("merchants") } ?? 0
    }

    /// A text that the daemon stores about itself, such as `backupDraft`, the path of an unfinished backup.
    func daemonValue(_ name: String) throws -> String? {
        try firstRow("SELECT value FROM daemon_values WHERE name = $1", [name]) { try $0.text("value") }
    }
}
