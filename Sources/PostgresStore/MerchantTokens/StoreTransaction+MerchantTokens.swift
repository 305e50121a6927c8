import MerchantCore
import Vocabulary

extension StoreTransaction {
    func store(_ token: MerchantToken) throws {
        try requireMerchant(token.merchantIdentifier)
        try execute(MerchantTokenRow.upsert, try MerchantTokenRow.values(token))
    }

    func recordPayments(_ payments: [MerchantTokenPayment]) throws {
        for payment in payments {
            try requireMerchant(payment.merchantIdentifier)
            try execute(
                """
                INSERT INTO merchant_tokens (identifier, merchant_identifier, state, first_seen_at, last_seen_at)
                VALUES ($1, $2, 'linked', $3, $4)
                ON CONFLICT (identifier) DO UPDATE SET last_seen_at = greatest(merchant_tokens.last_seen_at, excluded.last_seen_at)
                """,
                [
                    payment.identifier.rawValue, payment.merchantIdentifier.rawValue,
                    payment.payments.first.millisecondsSince1970, payment.payments.last.millisecondsSince1970,
                ])
        }
    }

    /// Throws `merchantNotFound` if the merchant was never added.
    func requireMerchant(_ identifier: MerchantIdentifier) throws {
        guard try merchant(identifier) != nil else { throw MerchantError.merchantNotFound(identifier) }
    }
}
