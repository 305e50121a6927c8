import MerchantCore
import Vocabulary

extension StoreTransaction {
    func store(_ mpan: StoredMPAN) throws {
        let (sealed, identifier) = (mpan.sealed, mpan.sealed.owner.merchantTokenIdentifier)
        guard let token = try merchantToken(identifier) else { throw MerchantError.merchantTokenNotFound(identifier) }
        guard token.state == .linked else {
            throw MerchantError(
                .merchantTokenStateConflict,
                "the merchant token \(identifier) is unlinked, so its account number cannot be stored")
        }
        try refuseErasedDataKey(sealed.dataKeyIdentifier)
        try execute(
            """
            INSERT INTO sealed_mpans
                (merchant_token_identifier, seal_version, data_key_id, sealed_bytes, received_at, erased)
            VALUES ($1, $2, $3, $4, $5, false)
            ON CONFLICT (merchant_token_identifier) DO UPDATE SET seal_version = excluded.seal_version,
                data_key_id = excluded.data_key_id, sealed_bytes = excluded.sealed_bytes,
                received_at = excluded.received_at, erased = false
            """,
            [
                identifier.rawValue, sealed.version, sealed.dataKeyIdentifier, sealed.bytes,
                mpan.receivedAt.millisecondsSince1970,
            ])
    }

    func eraseMPAN(of token: MerchantTokenIdentifier) throws {
        try execute(
            """
            UPDATE sealed_mpans SET sealed_bytes = zeros(48), erased = true
            WHERE merchant_token_identifier = $1 AND NOT erased
            """, [token.rawValue])
    }
}
