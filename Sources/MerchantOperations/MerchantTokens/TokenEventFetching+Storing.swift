import MerchantCore
import Vocabulary

extension TokenEventFetching {
    /// Stores a fetched event: closes its notification, changes the record of the merchant token, and appends the audit
    /// record and the event for webhooks, all in one transaction.
    func store(
        _ event: MerchantTokenEvent, _ metadata: TokenMetadataDecryption.Result?, of notification: TokenNotification,
        for request: Request
    ) async throws -> Outcome {
        let (now, seenAt) = (clock.now, confirmedTime.reading().latest)
        let outcome = try await records.write { [policy] transaction -> Outcome in
            guard try transaction.isWaiting(notification) else { return .closed }
            var closed = notification
            let stored = try transaction.merchantToken(event.merchantTokenIdentifier)
            if let stored, stored.merchantIdentifier != notification.merchantIdentifier {
                closed.state = .unknown
                closed.finding = "the merchant token belongs to \(stored.merchantIdentifier)"
                try transaction.update(closed, at: now)
                return .otherMerchant(event.merchantTokenIdentifier)
            }
            closed.state = .done
            closed.finding = nil
            try transaction.update(closed, at: now)
            let changed = MerchantToken(stored, event, metadata, of: notification, at: now, seenAt: seenAt)
            try transaction.store(changed)
            try transaction.updateMPAN(
                of: changed, metadata?.sealedMPAN, receivedAt: notification.receivedAt,
                storesMPANs: policy.storesMPANs)
            try transaction.append(
                request.auditEntry(
                    .merchantTokenEventReceived, at: now, merchant: changed.merchantIdentifier,
                    before: stored?.state.rawValue, after: changed.state.rawValue,
                    reason:
                        "merchantTokenIdentifier=\(changed.identifier) eventIdentifier=\(notification.eventIdentifier) eventType=\(event.type.printable(keepingLines: false))"
                ))
            try transaction.append(Event(event, metadata, of: notification, at: now))
            return .stored
        }
        if outcome == .stored { metrics.count(type: MerchantTokenEventType(event.type)?.label ?? .other) }
        return outcome
    }

    /// Removes closed notifications that are no longer needed to recognize repeats, in small transactions, so that
    /// other writes need not wait long.
    ///
    /// - Returns: the number of removed notifications.
    package func removeClosedNotifications() async throws -> Int {
        // The earlier of the machine's clock and the confirmed time, so that a machine clock that is ahead removes
        // nothing early.
        let now = confirmedTime.reading().earliest
        let unknown = try await remove(
            [.unknown], receivedBefore: now.adding(.zero - TokenNotificationSchedule.retentionOfUnknown))
        let others = try await remove(
            [.done, .failed], receivedBefore: now.adding(.zero - TokenNotificationSchedule.retention))
        return unknown + others
    }

    private static let notificationsPerRemoval = 500

    private func remove(_ states: Set<TokenNotification.State>, receivedBefore time: Timestamp) async throws -> Int {
        var count = 0
        while !Task.isCancelled {
            let removed = try await records.write {
                try $0.removeTokenNotifications(
                    in: states, receivedBefore: time, limit: Self.notificationsPerRemoval)
            }
            count += removed
            guard removed == Self.notificationsPerRemoval else { break }
        }
        return count
    }
}

extension MerchantTokenWriting {
    /// Stores or erases the account number of a merchant token after an event.
    ///
    /// - Parameters:
    ///   - token: the token after the event. The store has erased the account number of an unlinked token.
    ///   - mpan: nil if the event contained no account number; the stored account number is then still valid.
    ///   - storesMPANs: the setting `merchant-tokens.store-mpan`. If it is false, an account number that was stored
    ///     while it was true is erased.
    fileprivate func updateMPAN(
        of token: MerchantToken, _ mpan: SealedMPAN?, receivedAt: Timestamp, storesMPANs: Bool
    ) throws {
        guard storesMPANs else { return try eraseMPAN(of: token.identifier) }
        guard let mpan, token.state == .linked else { return }
        if let stored = try self.mpan(of: token.identifier), stored.receivedAt > receivedAt { return }
        try store(StoredMPAN(sealed: mpan, receivedAt: receivedAt))
    }
}

extension MerchantToken {
    /// The record of a merchant token after an event.
    ///
    /// - Parameter stored: the record before the event; nil if the daemon has none.
    fileprivate init(
        _ stored: MerchantToken?, _ event: MerchantTokenEvent, _ metadata: TokenMetadataDecryption.Result?,
        of notification: TokenNotification, at now: Timestamp, seenAt: Timestamp
    ) {
        self =
            stored
            ?? MerchantToken(
                identifier: event.merchantTokenIdentifier, merchantIdentifier: notification.merchantIdentifier,
                firstSeenAt: now, lastSeenAt: now)
        lastSeenAt = max(lastSeenAt, seenAt)
        // Apple never links an unlinked token again.
        if MerchantTokenEventType(event.type) == .unlink { state = .unlinked }
        // Notifications from different addresses can overtake each other, and so can those of one address if an event
        // could not be fetched for 10 minutes. An older event must not replace the data of a newer one.
        guard lastEvent.map({ $0.receivedAt <= notification.receivedAt }) ?? true else { return }
        lastEvent = LastEvent(
            identifier: notification.eventIdentifier, type: event.type, reason: event.reason,
            receivedAt: notification.receivedAt)
        card = (card ?? MerchantTokenCard()).updated(with: event.card, metadata)
    }
}

extension MerchantTokenCard {
    /// This card with the fields that an event contains.
    ///
    /// - Returns: nil if no field is known.
    func updated(with card: MerchantTokenCard?, _ metadata: TokenMetadataDecryption.Result?) -> MerchantTokenCard? {
        var result = self
        if let card {
            result.cardCountry = card.cardCountry ?? cardCountry
            result.expirationDate = card.expirationDate ?? expirationDate
            result.fpanSuffix = card.fpanSuffix ?? fpanSuffix
            result.longDescription = card.longDescription ?? longDescription
            result.shortDescription = card.shortDescription ?? shortDescription
            if !card.cardArt.isEmpty { result.cardArt = card.cardArt }
        }
        if case .decrypted(let metadata)? = metadata { result.expirationDate = metadata.expirationDate }
        return result == MerchantTokenCard() ? nil : result
    }
}
