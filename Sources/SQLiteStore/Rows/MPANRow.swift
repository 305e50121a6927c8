import GRDB
import MerchantCore
import Vocabulary

/// Converts a row of `sealed_mpans`, joined with its row of `merchant_tokens`, to a sealed account number.
enum MPANRow {
    static let columns = "identifier, merchant_identifier, seal_version, data_key_id, sealed_bytes, received_at"

    static func stored(_ row: Row) throws -> StoredMPAN {
        StoredMPAN(
            sealed: SealedMPAN(
                owner: SealedMPAN.Owner(
                    try row.merchantTokenIdentifier("identifier"), of: try row.merchantIdentifier()),
                version: try row.integer("seal_version"), dataKeyIdentifier: try row.integer("data_key_id"),
                bytes: try row.bytes("sealed_bytes")),
            receivedAt: try row.timestamp("received_at"))
    }
}
