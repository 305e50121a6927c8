package import MerchantCore
import Vocabulary

/// Converts a sealed account number to and from its row in `sealed_mpans`. To read, the row is joined with its row of
/// `merchant_tokens`.
package enum MPANRow {
    package static let columns =
        "identifier, merchant_identifier, seal_version, data_key_id, sealed_bytes, received_at"

    package static func stored(_ row: some StoredRow) throws -> StoredMPAN {
        StoredMPAN(
            sealed: SealedMPAN(
                owner: SealedMPAN.Owner(
                    try row.merchantTokenIdentifier("identifier"), of: try row.merchantIdentifier()),
                version: try row.integer("seal_version"), dataKeyIdentifier: try row.integer("data_key_id"),
                bytes: try row.bytes("sealed_bytes")),
            receivedAt: try row.timestamp("received_at"))
    }

    /// Converts a row that also has the column `row`, the id of the row in `sealed_mpans`.
    package static func sealedRow(_ row: some StoredRow) throws -> SealedMPANRow {
        SealedMPANRow(row: try row.integer("row"), sealed: try stored(row).sealed)
    }

    package static let insertedColumns =
        "merchant_token_identifier, seal_version, data_key_id, sealed_bytes, received_at"

    /// The values of ``insertedColumns``.
    package static func values(_ mpan: StoredMPAN) -> Arguments {
        let sealed = mpan.sealed
        return [
            sealed.owner.merchantTokenIdentifier.rawValue, sealed.version, sealed.dataKeyIdentifier, sealed.bytes,
            mpan.receivedAt,
        ]
    }
}
