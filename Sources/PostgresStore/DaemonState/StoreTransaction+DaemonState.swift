import MerchantCore
import StoreCore
import Vocabulary

extension StoreTransaction {
    func record(_ manifest: BackupManifest, at path: String, verifiedAt: Timestamp?) throws {
        try executeLater(
            """
            INSERT INTO backups (\(BackupRow.insertedColumns)) VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (sha256) DO UPDATE SET path = excluded.path, verified_at = excluded.verified_at
            """, BackupRow.values(manifest, at: path, verifiedAt: verifiedAt))
    }

    func setDaemonValue(_ name: String, _ value: String) throws {
        try executeLater(
            """
            INSERT INTO daemon_values (name, value) VALUES ($1, $2)
            ON CONFLICT (name) DO UPDATE SET value = excluded.value
            """, [name, value])
    }
}
