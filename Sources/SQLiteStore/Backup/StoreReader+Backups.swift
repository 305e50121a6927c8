import FoundationEssentials
import GRDB
import MerchantCore
import Vocabulary

extension StoreReading {
    func backupCoverage() throws -> BackupCoverage {
        var coverage = BackupCoverage()
        let newest = try first(
            """
            SELECT newest_key_pair_id, created_at, path FROM backups INDEXED BY backups_verified
            WHERE verified_at IS NOT NULL ORDER BY newest_key_pair_id DESC, created_at DESC LIMIT 1
            """, []
        ) { row in
            coverage.lastVerified = try row.timestamp("created_at")
            coverage.lastVerifiedPath = try row.text("path")
            return try row.integer("newest_key_pair_id")
        }
        coverage.merchantsWithoutBackup =
            try first(
                """
                SELECT count(*) AS merchants FROM merchants INDEXED BY merchants_by_newest_key_pair
                WHERE newest_key_pair_id > ?
                """, [newest ?? 0]
            ) { try $0.integer("merchants") } ?? 0
        coverage.withoutBackup = try every(
            """
            SELECT identifier AS merchant_identifier FROM merchants INDEXED BY merchants_by_newest_key_pair
            WHERE newest_key_pair_id > ? ORDER BY newest_key_pair_id LIMIT ?
            """, [newest ?? 0, BackupCoverage.mostNamed]
        ) { try $0.merchantIdentifier() }
        return coverage
    }

    func isNewestKeyPairBackedUp(of merchant: MerchantIdentifier) throws -> Bool? {
        try first(
            """
            SELECT id <= coalesce(
                (SELECT max(newest_key_pair_id) FROM backups INDEXED BY backups_verified WHERE verified_at IS NOT NULL), 0
            ) AS is_backed_up
            FROM key_pairs INDEXED BY key_pairs_of_merchant WHERE merchant_identifier = ? ORDER BY id DESC LIMIT 1
            """, [merchant.rawValue]
        ) { try $0.flag("is_backed_up") }
    }
}

extension StoreTransaction {
    func record(_ manifest: BackupManifest, at path: String, verifiedAt: Timestamp?) throws {
        try execute(
            """
            INSERT INTO backups (sha256, path, created_at, newest_key_pair_id, audit_sequence, verified_at)
            VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (sha256) DO UPDATE SET
                path = excluded.path, verified_at = coalesce(excluded.verified_at, verified_at)
            """,
            [
                Data(manifest.sha256), path, manifest.createdAt.millisecondsSince1970, manifest.newestKeyPairId,
                manifest.auditHead?.sequence ?? 0, verifiedAt?.millisecondsSince1970,
            ])
    }
}
