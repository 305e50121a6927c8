import MerchantCore
import Vocabulary

extension StoreTransaction {
    func insert(_ access: Access) throws {
        if let stored = try self.access(access.name) {
            throw MerchantError(
                .accessExists,
                "access \(access.name) was already created at \(stored.createdAt): choose another name, because a name is used once, even after its access was revoked"
            )
        }
        if let fingerprint = access.certificateFingerprint,
            let other = try self.access(certificateFingerprint: fingerprint)
        {
            throw MerchantError(
                .accessExists,
                "access \(other.name) already has this client certificate: revoke that access first, or use another certificate"
            )
        }
        let id = try insertRow(AccessRow.insertion, AccessRow.values(access))
        try writeSecrets(of: access, toRow: id)
    }

    func update(_ access: Access) throws {
        guard let id = try rowId(of: access.name) else {
            throw MerchantError(.accessNotFound, "there is no access \(access.name)")
        }
        try execute(AccessRow.update, AccessRow.updateValues(access, id: id))
        try writeSecrets(of: access, toRow: id)
    }

    /// Writes the secrets that are new or expire at another time, and removes those that the access no longer has.
    private func writeSecrets(of access: Access, toRow id: Int64) throws {
        let before = try secrets(ofAccessRow: id)
        for secret in before where !access.secrets.contains(where: { $0.stored == secret.stored }) {
            try execute(
                "DELETE FROM access_secrets WHERE secret_identifier = $1 AND access_id = $2",
                [secret.stored.identifier, id])
        }
        // The oldest first, because secrets are read in the descending order of their row ids.
        for secret in access.secrets.reversed() where !before.contains(secret) {
            if before.contains(where: { $0.stored == secret.stored }) {
                try execute(
                    "UPDATE access_secrets SET expires_at = $1 WHERE secret_identifier = $2 AND access_id = $3",
                    [secret.expiresAt?.millisecondsSince1970, secret.stored.identifier, id])
            } else {
                try execute(AccessSecretRow.insertion, AccessSecretRow.values(secret, accessRow: id))
            }
        }
    }
}
