package import MerchantCore
package import Vocabulary

/// Converts the record of a backup to its row in `backups`.
package enum BackupRow {
    package static let insertedColumns =
        "sha256, path, created_at, newest_key_pair_id, audit_sequence, verified_at"

    /// The values of ``insertedColumns``.
    package static func values(_ manifest: BackupManifest, at path: String, verifiedAt: Timestamp?) -> Arguments {
        [
            manifest.sha256, path, manifest.createdAt, manifest.newestKeyPairId, manifest.auditHead?.sequence ?? 0,
            verifiedAt,
        ]
    }
}
