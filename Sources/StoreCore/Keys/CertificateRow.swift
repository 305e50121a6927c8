import Crypto
package import MerchantCore
package import Vocabulary

/// Converts a certificate to and from its row in `certificates`.
package enum CertificateRow {
    package static let columns =
        "der, fingerprint, serial_number, subject, issuer, not_before, not_after, issuer_verified, stored_at"

    /// - Throws: `keyDamaged` if the SHA-256 of the certificate is not its stored fingerprint: the row was altered or
    ///   is damaged.
    package static func certificate(_ row: some StoredRow) throws -> StoredCertificate {
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

    package static let insertedColumns = "public_key_hash, \(columns)"

    /// The values of ``insertedColumns``.
    package static func values(_ certificate: StoredCertificate, of hash: PublicKeyHash) -> Arguments {
        [
            hash.bytes, certificate.der, certificate.fingerprint, certificate.serialNumber, certificate.subject,
            certificate.issuer, certificate.notBefore, certificate.notAfter, certificate.issuerVerified,
            certificate.storedAt,
        ]
    }
}
