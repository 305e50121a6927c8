package import MerchantCore

/// Converts a sealed private key to and from its row in `sealed_private_keys`.
package enum SealedKeyRow {
    package static let columns = "seal_version, data_key_id, sealed_bytes"

    package static func sealedPrivateKey(_ row: some StoredRow) throws -> SealedPrivateKey {
        SealedPrivateKey(
            version: try row.integer("seal_version"), dataKeyIdentifier: try row.integer("data_key_id"),
            bytes: try row.bytes("sealed_bytes"))
    }

    /// The values of ``columns``.
    package static func values(_ sealedPrivateKey: SealedPrivateKey) -> Arguments {
        [sealedPrivateKey.version, sealedPrivateKey.dataKeyIdentifier, sealedPrivateKey.bytes]
    }

    /// The id of the row, its ``columns``, and the columns of its key pair.
    package static let joinedColumns = "sealed_private_keys.id AS row, \(columns), \(KeyPairRow.columns)"

    /// Converts a row with ``joinedColumns``.
    package static func sealedKeyPair(_ row: some StoredRow) throws -> SealedKeyPairRow {
        SealedKeyPairRow(
            row: try row.integer("row"),
            sealedKeyPair: SealedKeyPair(
                keyPair: try KeyPairRow.keyPair(row), sealedPrivateKey: try sealedPrivateKey(row)))
    }
}
