import MerchantCore
import StoreCore
import Vocabulary

extension StoreTransaction {
    func store(_ token: MerchantToken) throws {
        try requireMerchant(token.merchantIdentifier)
        // Never moves the time of the token's last use back.
        try executeLater(
            """
            INSERT INTO merchant_tokens (\(MerchantTokenRow.columns))
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
            ON CONFLICT (identifier) DO UPDATE SET state = excluded.state,
                last_seen_at = greatest(merchant_tokens.last_seen_at, excluded.last_seen_at),
                event_id = excluded.event_id, event_type = excluded.event_type, event_reason = excluded.event_reason,
                event_received_at = excluded.event_received_at, card = excluded.card,
                notification_url = excluded.notification_url
            """, try MerchantTokenRow.values(token))
    }

    func recordPayments(_ payments: [MerchantTokenPayment]) throws {
        for payment in payments {
            try requireMerchant(payment.merchantIdentifier)
            try executeLater(
                """
                INSERT INTO merchant_tokens (\(MerchantTokenRow.paymentColumns), state)
                VALUES ($1, $2, $3, $4, 'linked')
                ON CONFLICT (identifier) DO UPDATE SET last_seen_at = greatest(merchant_tokens.last_seen_at, excluded.last_seen_at)
                """, MerchantTokenRow.values(payment))
        }
    }
}
