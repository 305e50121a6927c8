import MerchantCore
import StoreCore
import Vocabulary

extension StoreTransaction {
    func insert(_ access: Access) throws {
        try requireNew(access)
        let id = try insertRow(
            "INSERT INTO accesses (\(AccessRow.insertedColumns)) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            AccessRow.values(access))
        try writeSecrets(of: access, toRow: id)
    }

    func update(_ access: Access) throws {
        guard let id = try rowId(of: access.name) else { throw MerchantError.accessNotFound(access.name) }
        try executeLater(
            "UPDATE accesses SET expires_at = $1, revoked_at = $2, last_used_at = $3 WHERE id = $4",
            [access.expiresAt, access.revokedAt, access.lastUsedAt, id])
        try writeSecrets(of: access, toRow: id)
    }

    /// Writes the secrets that are new or expire at another time, and removes those that the access no longer has.
    private func writeSecrets(of access: Access, toRow id: Int64) throws {
        let changes = AccessSecretChanges(from: try secrets(ofAccessRow: id), to: access.secrets)
        for secret in changes.removed {
            try executeLater(
                "DELETE FROM access_secrets WHERE secret_identifier = $1 AND access_id = $2",
                [secret.stored.identifier, id])
        }
        for secret in changes.changed {
            try executeLater(
                "UPDATE access_secrets SET expires_at = $1 WHERE secret_identifier = $2 AND access_id = $3",
                [secret.expiresAt, secret.stored.identifier, id])
        }
        for secret in changes.added {
            try executeLater(
                "INSERT INTO access_secrets (access_id, \(AccessSecretRow.columns)) VALUES ($1, $2, $3, $4, $5)",
                [id] + AccessSecretRow.values(secret))
        }
    }
}
