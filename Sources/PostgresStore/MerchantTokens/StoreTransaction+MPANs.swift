import MerchantCore
import StoreCore
import Vocabulary

extension StoreTransaction {
    func store(_ mpan: StoredMPAN) throws {
        try requireLinkedToken(of: mpan.sealed)
        try refuseErasedDataKey(mpan.sealed.dataKeyIdentifier)
        try executeLater(
            """
            INSERT INTO sealed_mpans (\(MPANRow.insertedColumns), erased) VALUES ($1, $2, $3, $4, $5, false)
            ON CONFLICT (merchant_token_identifier) DO UPDATE SET seal_version = excluded.seal_version,
                data_key_id = excluded.data_key_id, sealed_bytes = excluded.sealed_bytes,
                received_at = excluded.received_at, erased = false
            """, MPANRow.values(mpan))
    }

    func eraseMPAN(of token: MerchantTokenIdentifier) throws {
        try executeLater(
            """
            UPDATE sealed_mpans SET sealed_bytes = zeros(48), erased = true
            WHERE merchant_token_identifier = $1 AND NOT erased
            """, [token.rawValue])
    }
}
