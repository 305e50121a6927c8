package import MerchantCore
package import Vocabulary

/// The merchant tokens of ``MemoryRepository``, with the secret paths for their notifications.
struct MemoryMerchantTokens: Sendable {
    var tokens: [MerchantTokenIdentifier: MerchantToken] = [:]
    /// The sealed account numbers of the tokens.
    var mpans: [MerchantTokenIdentifier: StoredMPAN] = [:]
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
        if token.state == .unlinked { eraseMPAN(of: token.identifier) }
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
                    firstSeenAt: payment.times.first, lastSeenAt: payment.times.last)
            token.lastSeenAt = max(token.lastSeenAt, payment.times.last)
            state.merchantTokens.tokens[payment.identifier] = token
        }
    }

    package func mpan(of token: MerchantTokenIdentifier) -> StoredMPAN? { state.merchantTokens.mpans[token] }

    package func mpans(after cursor: MerchantTokenIdentifier?, limit: Int) -> [StoredMPAN] {
        let sorted = state.merchantTokens.mpans.sorted { $0.key < $1.key }
        return Array(sorted.filter { entry in cursor.map { $0 < entry.key } ?? true }.map(\.value).prefix(limit))
    }

    package func store(_ mpan: StoredMPAN) throws {
        let identifier = mpan.sealed.owner.merchantTokenIdentifier
        guard let token = merchantToken(identifier) else { throw MerchantError.merchantTokenNotFound(identifier) }
        guard token.state == .linked else {
            throw MerchantError(.merchantTokenStateConflict, "merchant token \(identifier) is unlinked")
        }
        state.merchantTokens.mpans[identifier] = mpan
    }

    package func eraseMPAN(of token: MerchantTokenIdentifier) { state.merchantTokens.mpans[token] = nil }

    func requireMerchant(_ identifier: MerchantIdentifier) throws {
        guard merchant(identifier) != nil else { throw MerchantError.merchantNotFound(identifier) }
    }
}
