import Crypto
import MerchantCore
import Vocabulary

/// Converts a certificate to and from its row in `certificates`.
enum CertificateRow {
    static let columns =
        "der, fingerprint, serial_number, subject, issuer, not_before, not_after, issuer_verified, stored_at"

    /// - Throws: `keyDamaged` if the SHA-256 of the certificate is not its stored fingerprint: the row was altered or
    ///   is damaged.
    static func certificate(_ row: Row) throws -> StoredCertificate {
        let der = try row.bytes("der")
        let fingerprint = try row.bytes("fingerprint")
        guard Array(SHA256.hash(data: der)) == fingerprint else {
            throw MerchantError(
                .keyDamaged,
                "the stored certificate with the fingerprint \(Hex.encode(fingerprint)) was altered or is damaged: restore a backup"
            )
        }
        return StoredCertificate(
            der: der, fingerprint: fingerprint,
            serialNumber: try row.text("serial_number"), subject: try row.text("subject"),
            issuer: try row.text("issuer"), notBefore: try row.timestamp("not_before"),
            notAfter: try row.timestamp("not_after"), issuerVerified: try row.flag("issuer_verified"),
            storedAt: try row.timestamp("stored_at"))
    }

    static let insertion =
        "INSERT INTO certificates (public_key_hash, \(columns)) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"

    static func values(_ certificate: StoredCertificate, of hash: PublicKeyHash) -> Arguments {
        [
            hash.bytes, certificate.der, certificate.fingerprint, certificate.serialNumber,
            certificate.subject, certificate.issuer, certificate.notBefore.millisecondsSince1970,
            certificate.notAfter.millisecondsSince1970, certificate.issuerVerified,
            certificate.storedAt.millisecondsSince1970,
        ]
    }
}
