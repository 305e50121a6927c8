import MerchantCore
import StoreCore
import Vocabulary

extension StoreTransaction {
    func store(_ mpan: StoredMPAN) throws {
        try requireLinkedToken(of: mpan.sealed)
        try refuseErasedDataKey(mpan.sealed.dataKeyIdentifier)
        try execute(
            """
            INSERT INTO sealed_mpans (\(MPANRow.insertedColumns), erased) VALUES (?, ?, ?, ?, ?, 0)
            ON CONFLICT (merchant_token_identifier) DO UPDATE SET seal_version = excluded.seal_version,
                data_key_id = excluded.data_key_id, sealed_bytes = excluded.sealed_bytes,
                received_at = excluded.received_at, erased = 0
            """, MPANRow.values(mpan))
    }

    func eraseMPAN(of token: MerchantTokenIdentifier) throws {
        try execute(
            """
            UPDATE sealed_mpans SET sealed_bytes = zeroblob(48), erased = 1
            WHERE merchant_token_identifier = ? AND erased = 0
            """, [token.rawValue])
    }
}
