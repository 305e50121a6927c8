import FoundationEssentials
import GRDB
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
            VALUES (?, ?, ?, ?, ?, 0)
            ON CONFLICT (merchant_token_identifier) DO UPDATE SET seal_version = excluded.seal_version,
                data_key_id = excluded.data_key_id, sealed_bytes = excluded.sealed_bytes,
                received_at = excluded.received_at, erased = 0
            """,
            [
                identifier.rawValue, sealed.version, sealed.dataKeyIdentifier, Data(sealed.bytes),
                mpan.receivedAt.millisecondsSince1970,
            ])
    }

    func eraseMPAN(of token: MerchantTokenIdentifier) throws {
        try execute(
            """
            UPDATE sealed_mpans SET sealed_bytes = zeroblob(48), erased = 1
            WHERE merchant_token_identifier = ? AND erased = 0
            """, [token.rawValue])
    }
}
