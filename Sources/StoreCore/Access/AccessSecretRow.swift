package import MerchantCore
import Vocabulary

/// Converts an access token to and from its row in `access_secrets`.
package enum AccessSecretRow {
    package static let columns = "secret_identifier, secret_digest, created_at, expires_at"

    package static func secret(_ row: some StoredRow) throws -> AccessSecret {
        AccessSecret(
            stored: try row.storedSecret(), createdAt: try row.timestamp("created_at"),
            expiresAt: try row.timestampIfAny("expires_at"))
    }

    /// The values of ``columns``.
    package static func values(_ secret: AccessSecret) -> Arguments {
        [secret.stored.identifier, secret.stored.digest.bytes, secret.createdAt, secret.expiresAt]
    }
}
