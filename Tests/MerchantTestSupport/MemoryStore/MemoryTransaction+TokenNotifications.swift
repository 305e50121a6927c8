package import MerchantCore
package import Vocabulary

/// The queue of one merchant's notifications from one address.
struct TokenNotificationLane: Hashable, Sendable {
    let merchant: MerchantIdentifier
    let source: String

    init(_ notification: TokenNotification) {
        (merchant, source) = (notification.merchantIdentifier, notification.source)
    }
}

/// What a lane remembers while notifications wait in it.
struct MemoryLane: Sendable {
    /// The last attempt; before the first one, when the lane began.
    var attemptedAt: Timestamp
    /// Until when notifications that failed delay the later ones.
    var delayedUntil = Timestamp(millisecondsSince1970: 0)

    /// The next notification of the lane, and when it is due.
    struct Next {
        let notification: TokenNotification
        let dueAt: Timestamp
        /// Since when the notification is due. The one that has been due for longest comes first in its lane.
        let dueSince: Timestamp
        let attemptedAt: Timestamp
    }

    /// - Parameter waiting: the waiting notifications of the lane, at least one, by sequence.
    func next(of waiting: [TokenNotification]) -> Next? {
        let first = waiting.first { !$0.isOvertaken }.map { notification in
            let isNew = notification.failures == 0
            return Next(
                notification: notification,
                dueAt: max(isNew ? Timestamp(millisecondsSince1970: 0) : notification.dueAt, delayedUntil),
                dueSince: max(isNew ? min(notification.receivedAt, attemptedAt) : notification.dueAt, delayedUntil),
                attemptedAt: attemptedAt)
        }
        let overtaken = waiting.filter(\.isOvertaken).map { notification in
            Next(
                notification: notification, dueAt: notification.dueAt, dueSince: notification.dueAt,
                attemptedAt: attemptedAt)
        }
        return (overtaken + [first].compactMap { $0 }).min {
            ($0.dueSince, $0.notification.sequence) < ($1.dueSince, $1.notification.sequence)
        }
    }
}

extension TokenNotification {
    /// When later notifications of the lane may be fetched although this one has failed; nil if they wait for it.
    fileprivate var endOfDelay: Timestamp? {
        let end = firstFailedAt?.adding(Self.longestLaneDelay)
        return end.flatMap { dueAt >= $0 ? $0 : nil }
    }

    fileprivate var isOvertaken: Bool { endOfDelay != nil }
}

extension MemoryTransaction {
    package func tokenNotification(
        _ event: MerchantTokenEventIdentifier, of merchant: MerchantIdentifier
    ) -> TokenNotification? {
        state.merchantTokens.notifications.first { $0.eventIdentifier == event && $0.merchantIdentifier == merchant }
    }

    package func nextTokenNotifications(
        dueAt time: Timestamp, excluding merchants: Set<MerchantIdentifier>, limit: Int
    ) -> [TokenNotification] {
        let waiting = state.merchantTokens.notifications.filter {
            $0.state == .waiting && !merchants.contains($0.merchantIdentifier)
        }
        let lanes = Dictionary(grouping: waiting, by: TokenNotificationLane.init)
        let next = lanes.compactMap { lane, waiting in state.merchantTokens.lanes[lane]?.next(of: waiting) }
        return next.filter { $0.dueAt <= time }.sorted {
            ($0.dueAt, $0.attemptedAt, $0.notification.sequence) < ($1.dueAt, $1.attemptedAt, $1.notification.sequence)
        }.prefix(limit).map(\.notification)
    }

    package func waitingTokenNotifications() -> TokenNotificationQueue {
        let waiting = state.merchantTokens.notifications.filter { $0.state == .waiting }
        return TokenNotificationQueue(waiting: waiting.count, oldest: waiting.map(\.receivedAt).min())
    }

    package func waitingTokenNotifications(from source: String) -> Int {
        state.merchantTokens.notifications.count { $0.state == .waiting && $0.source == source }
    }

    package func insertTokenNotification(
        _ event: MerchantTokenEventIdentifier, of merchant: MerchantIdentifier, from source: String, at now: Timestamp
    ) throws -> Bool {
        try requireMerchant(merchant)
        guard tokenNotification(event, of: merchant) == nil else { return false }
        state.merchantTokens.lastSequence += 1
        let notification = TokenNotification(
            sequence: state.merchantTokens.lastSequence, eventIdentifier: event, merchantIdentifier: merchant,
            source: source, receivedAt: now, dueAt: now)
        state.merchantTokens.notifications.append(notification)
        let lane = TokenNotificationLane(notification)
        state.merchantTokens.lanes[lane] = state.merchantTokens.lanes[lane] ?? MemoryLane(attemptedAt: now)
        return true
    }

    package func update(_ notification: TokenNotification, at now: Timestamp) throws {
        let notifications = state.merchantTokens.notifications
        guard let index = notifications.firstIndex(where: { $0.sequence == notification.sequence }),
            notifications[index].state == .waiting
        else {
            throw MerchantError(.internalError, "notification \(notification.sequence) does not wait")
        }
        guard (notification.failures == 0) == (notification.firstFailedAt == nil) else {
            throw MerchantError(.internalError, "the time of the first failure is set exactly when there is one")
        }
        state.merchantTokens.notifications[index].state = notification.state
        state.merchantTokens.notifications[index].failures = notification.failures
        state.merchantTokens.notifications[index].firstFailedAt = notification.firstFailedAt
        state.merchantTokens.notifications[index].dueAt = notification.dueAt
        state.merchantTokens.notifications[index].finding = notification.finding
        noteAttempt(for: notification, at: now)
    }

    private func noteAttempt(for notification: TokenNotification, at now: Timestamp) {
        let key = TokenNotificationLane(notification)
        let isWaiting = state.merchantTokens.notifications.contains {
            $0.state == .waiting && TokenNotificationLane($0) == key
        }
        guard isWaiting, var lane = state.merchantTokens.lanes[key] else {
            state.merchantTokens.lanes[key] = nil
            return
        }
        lane.attemptedAt = now
        if lane.delayedUntil <= now { lane.delayedUntil = Timestamp(millisecondsSince1970: 0) }
        if notification.state == .waiting, let end = notification.endOfDelay, end > now {
            lane.delayedUntil = max(lane.delayedUntil, end)
        }
        state.merchantTokens.lanes[key] = lane
    }

    package func removeTokenNotifications(
        in states: Set<TokenNotification.State>, receivedBefore time: Timestamp, limit: Int
    ) -> Int {
        let old = state.merchantTokens.notifications.filter {
            $0.state != .waiting && states.contains($0.state) && $0.receivedAt < time
        }.sorted { $0.receivedAt < $1.receivedAt }.prefix(limit).map(\.sequence)
        state.merchantTokens.notifications.removeAll { old.contains($0.sequence) }
        return old.count
    }
}

// MARK: - Secret paths

extension MemoryTransaction {
    package func tokenNotificationPath(_ secret: String) -> TokenNotificationPath? {
        state.merchantTokens.paths.first { $0.secret == secret }
    }

    package func tokenNotificationPaths(of merchant: MerchantIdentifier) -> [TokenNotificationPath] {
        state.merchantTokens.paths.filter { $0.merchantIdentifier == merchant }.reversed()
    }

    package func insert(_ path: TokenNotificationPath) throws {
        try requireMerchant(path.merchantIdentifier)
        guard tokenNotificationPath(path.secret) == nil else {
            throw MerchantError(.internalError, "the secret of the notification path exists")
        }
        state.merchantTokens.paths.append(path)
    }
}
