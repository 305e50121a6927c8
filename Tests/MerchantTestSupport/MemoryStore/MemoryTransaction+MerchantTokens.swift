package import MerchantCore
package import Vocabulary

/// The merchant tokens of ``MemoryRepository``, with the secret paths for their notifications.
struct MemoryMerchantTokens: Sendable {
    var tokens: [MerchantTokenIdentifier: MerchantToken] = [:]
    /// Oldest first.
    var paths: [TokenNotificationPath] = []
    /// By sequence, ascending.
    var notifications: [TokenNotification] = []
    /// The highest sequence of any notification.
    var lastSequence = 0
    var lanes: [TokenNotificationLane: MemoryLane] = [:]
}

extension MemoryTransaction {
    package func merchantToken(_ identifier: MerchantTokenIdentifier) -> MerchantToken? {
        state.merchantTokens.tokens[identifier]
    }

    package func merchantTokens(
        of merchants: Set<MerchantIdentifier>?, in tokenState: MerchantToken.State?,
        after cursor: MerchantTokenIdentifier?, limit: Int
    ) -> [MerchantToken] {
        Array(
            state.merchantTokens.tokens.values.filter { token in
                (merchants?.contains(token.merchantIdentifier) ?? true)
                    && (tokenState.map { $0 == token.state } ?? true)
                    && (cursor.map { $0 < token.identifier } ?? true)
            }.sorted { $0.identifier < $1.identifier }.prefix(limit))
    }

    package func store(_ token: MerchantToken) throws {
        try requireMerchant(token.merchantIdentifier)
        guard let stored = merchantToken(token.identifier) else {
            state.merchantTokens.tokens[token.identifier] = token
            return
        }
        state.merchantTokens.tokens[token.identifier] = MerchantToken(
            identifier: token.identifier, merchantIdentifier: stored.merchantIdentifier, state: token.state,
            firstSeenAt: stored.firstSeenAt, lastSeenAt: max(stored.lastSeenAt, token.lastSeenAt),
            lastEvent: token.lastEvent, card: token.card, notificationURL: token.notificationURL)
    }

    package func recordPayments(_ payments: [MerchantTokenPayment]) throws {
        for payment in payments {
            try requireMerchant(payment.merchantIdentifier)
            var token =
                merchantToken(payment.identifier)
                ?? MerchantToken(
                    identifier: payment.identifier, merchantIdentifier: payment.merchantIdentifier,
                    firstSeenAt: payment.payments.first, lastSeenAt: payment.payments.last)
            token.lastSeenAt = max(token.lastSeenAt, payment.payments.last)
            state.merchantTokens.tokens[payment.identifier] = token
        }
    }

    func requireMerchant(_ identifier: MerchantIdentifier) throws {
        guard merchant(identifier) != nil else { throw MerchantError.merchantNotFound(identifier) }
    }
}
