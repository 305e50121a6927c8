package import MerchantCore
import Vocabulary

/// Converts an access to and from its row in `accesses`.
package enum AccessRow {
    package static let columns = "id, \(insertedColumns)"

    package static func access(_ row: some StoredRow, _ secrets: [AccessSecret]) throws -> Access {
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

    package static let insertedColumns =
        "name, permits, merchants, certificate_fingerprint, created_at, expires_at, revoked_at, last_used_at"

    /// The values of ``insertedColumns``. The permits are separated by commas; each merchant is on a line of its own.
    package static func values(_ access: Access) -> Arguments {
        let permits = access.permits.map(\.rawValue).sorted().joined(separator: ",")
        let merchants = access.merchants.map { $0.sorted().map(\.rawValue).joined(separator: "\n") }
        return [
            access.name.rawValue, permits, merchants, access.certificateFingerprint?.bytes, access.createdAt,
            access.expiresAt, access.revokedAt, access.lastUsedAt,
        ]
    }
}
