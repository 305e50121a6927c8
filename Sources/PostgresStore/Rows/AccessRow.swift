import MerchantCore
import Vocabulary

/// Converts an access to and from its row in `accesses`.
enum AccessRow {
    static let columns =
        "id, name, permits, merchants, certificate_fingerprint, created_at, expires_at, revoked_at, last_used_at"

    static func access(_ row: Row, _ secrets: [AccessSecret]) throws -> Access {
        let permits: [Permit] = try row.text("permits").split(separator: ",").map {
            try row.value(Permit(rawValue: String($0)), of: "permits")
        }
        let merchants: [MerchantIdentifier]? = try row.textIfAny("merchants")?.split(separator: "\n").map {
            try row.value(MerchantIdentifier(text: String($0)), of: "merchants")
        }
        return Access(
            name: try row.value(AccessName(text: try row.text("name")), of: "name"), permits: Set(permits),
            merchants: merchants.map { Set($0) }, secrets: secrets,
            certificateFingerprint: try row.bits256IfAny("certificate_fingerprint"),
            createdAt: try row.timestamp("created_at"), expiresAt: try row.timestampIfAny("expires_at"),
            revokedAt: try row.timestampIfAny("revoked_at"), lastUsedAt: try row.timestampIfAny("last_used_at"))
    }

    static let insertion = """
        INSERT INTO accesses (name, permits, merchants, certificate_fingerprint, created_at, expires_at, revoked_at,
            last_used_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        """

    /// The values that ``insertion`` needs. The permits are separated by commas; each merchant is on a line of its own.
    static func values(_ access: Access) -> Arguments {
        let permits = access.permits.map(\.rawValue).sorted().joined(separator: ",")
        let merchants = access.merchants.map { $0.sorted().map(\.rawValue).joined(separator: "\n") }
        return [
            access.name.rawValue, permits, merchants, access.certificateFingerprint?.bytes,
            access.createdAt.millisecondsSince1970, access.expiresAt?.millisecondsSince1970,
            access.revokedAt?.millisecondsSince1970, access.lastUsedAt?.millisecondsSince1970,
        ]
    }

    static let update = "UPDATE accesses SET expires_at = $1, revoked_at = $2, last_used_at = $3 WHERE id = $4"

    static func updateValues(_ access: Access, id: Int64) -> Arguments {
        [
            access.expiresAt?.millisecondsSince1970, access.revokedAt?.millisecondsSince1970,
            access.lastUsedAt?.millisecondsSince1970, id,
        ]
    }
}

/// Converts an access token to and from its row in `access_secrets`.
enum AccessSecretRow {
    static let columns = "secret_identifier, secret_digest, created_at, expires_at"

    static func secret(_ row: Row) throws -> AccessSecret {
        AccessSecret(
            stored: try row.storedSecret(), createdAt: try row.timestamp("created_at"),
            expiresAt: try row.timestampIfAny("expires_at"))
    }

    static let insertion = "INSERT INTO access_secrets (access_id, \(columns)) VALUES ($1, $2, $3, $4, $5)"

    static func values(_ secret: AccessSecret, accessRow id: Int64) -> Arguments {
        [
            id, secret.stored.identifier, secret.stored.digest.bytes, secret.createdAt.millisecondsSince1970,
            secret.expiresAt?.millisecondsSince1970,
        ]
    }
}
