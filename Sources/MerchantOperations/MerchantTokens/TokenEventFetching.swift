package import MerchantCore
package import Vocabulary

/// Fetches the events of merchant tokens from Apple, and stores them.
///
/// Each event changes the daemon's record of its merchant token, and becomes one audit record and one event for
/// webhooks. All are committed together with the state of the notification. If the daemon crashes before the commit, it
/// fetches the event again; if it crashes later, it does not. So a crash neither loses an event nor stores it twice.
package struct TokenEventFetching: Sendable {
    package typealias Reader = KeyPairReading & TokenNotificationReading
    package typealias Writer = TokenNotificationWriting & MerchantTokenWriting & ChangeRecording
    package typealias Records = Transactions<any Reader, any Writer>

    /// The result of an attempt.
    package enum Outcome: Hashable, Sendable {
        /// The event is stored.
        case stored
        /// Apple does not know the event, or refuses the request for it.
        case unknown
        /// Apple responded with 403, and too many notifications from the same address already wait for another attempt.
        case forbidden(finding: String)
        /// The event belongs to a merchant token of another merchant, and was not stored.
        case otherMerchant(MerchantTokenIdentifier)
        /// The attempt failed, and the next one is due at this time.
        case failed(next: Timestamp, finding: String)
        /// The event could not be fetched for 7 days.
        case lost(finding: String)
        /// No call was made, because calls to Apple are paused. They may be possible again after this time.
        case paused(Duration)
        /// No call was made, because there is no identity with which the merchant's events can be fetched.
        case withoutIdentity(IdentityOwner, finding: String)
        /// The notification was closed by another attempt.
        case closed
        /// The daemon shuts down.
        case cancelled
    }

    /// The pause of all calls if Apple does not say how long to wait, in seconds.
    private static let standardPause = 10
    /// The length to which the text of a failure is truncated, in characters.
    private static let longestFinding = 500

    let records: Records
    private let gateway: any MerchantTokenGateway
    let policy: MerchantTokenPolicy
    private let metadata: TokenMetadataDecryption
    let metrics: MerchantTokenMetrics
    let clock: any WallClock
    /// Notifications expire by the earlier of the confirmed time and the machine's clock, so that a machine clock that
    /// is ahead does not make them expire early.
    let confirmedTime: ConfirmedTime
    /// Returns a random number from 0 to 1, for the pauses between attempts.
    private let jitter: @Sendable () -> Double

    init(
        records: Records, gateway: any MerchantTokenGateway, policy: MerchantTokenPolicy,
        metadata: TokenMetadataDecryption, metrics: MerchantTokenMetrics, clock: any WallClock,
        confirmedTime: ConfirmedTime,
        jitter: @escaping @Sendable () -> Double = { .random(in: 0...1) }
    ) {
        self.records = records
        self.gateway = gateway
        self.policy = policy
        self.metadata = metadata
        self.metrics = metrics
        self.clock = clock
        self.confirmedTime = confirmedTime
        self.jitter = jitter
    }

    /// The time of the machine's clock.
    package var now: Timestamp { clock.now }

    /// The notifications whose events may be fetched now, at most one of each lane, except those of `merchants`. The
    /// lanes take turns.
    package func next(
        excluding merchants: Set<MerchantIdentifier> = [], limit: Int
    ) async throws -> [TokenNotification] {
        // The later of the two times, so that a clock that was set back delays no attempt.
        let time = confirmedTime.reading().latest
        return try await records.read {
            try $0.nextTokenNotifications(dueAt: time, excluding: merchants, limit: limit)
        }
    }

    /// Counts the waiting notifications for the metrics.
    package func countWaiting() async throws {
        metrics.set(try await records.read { try $0.waitingTokenNotifications() })
    }

    /// The owners of the identity keys among these key pairs.
    func owners(ofIdentityKeys hashes: Set<PublicKeyHash>) async throws -> Set<MerchantIdentifier> {
        try await records.read { reading in
            try Set(
                hashes.compactMap { try reading.keyPair($0) }.filter { $0.purpose == .identity }
                    .map(\.merchantIdentifier))
        }
    }

    /// Fetches the event of a notification from Apple, and stores it.
    ///
    /// - Throws: `storeUnavailable` or another error of the store. The attempt must then be repeated.
    package func fetch(_ notification: TokenNotification, as daemon: Caller) async throws -> Outcome {
        let outcome = try await attempt(notification, as: daemon)
        if let label = outcome.label { metrics.count(fetch: label, at: clock.now) }
        return outcome
    }

    private func attempt(_ notification: TokenNotification, as daemon: Caller) async throws -> Outcome {
        let merchant = notification.merchantIdentifier
        let owner = try await records.read { try $0.identityOwner(of: merchant) }
        let event: MerchantTokenEvent
        do throws(GatewayError) {
            event = try await gateway.event(notification.eventIdentifier, of: merchant, as: owner)
        } catch {
            guard !Task.isCancelled else { return .cancelled }
            return try await handle(error, of: notification, as: owner)
        }
        let decrypted = await metadata.read(
            event.encryptedMetadata, of: SealedMPAN.Owner(event.merchantTokenIdentifier, of: merchant),
            notifiedAt: notification.receivedAt)
        let request = Request(caller: daemon, requestId: "merchant-token-event")
        return try await store(event, decrypted, of: notification, for: request)
    }

    private func handle(
        _ error: GatewayError, of notification: TokenNotification, as owner: IdentityOwner
    ) async throws -> Outcome {
        let finding = String(error.finding.prefix(Self.longestFinding))
        switch error.kind {
        case .circuitOpen: return .paused(.seconds(max(1, error.retryAfter ?? Self.standardPause)))
        case .identityUnusable: return .withoutIdentity(owner, finding: finding)
        case .refused, .notFound: return try await closeRefused(notification, finding: finding)
        case .forbidden:
            // A 403 is about the client certificate or the registration, not about the event. It may be temporary.
            let isKept = try await records.read { [policy] in
                try policy.keepsForbiddenEvent(from: notification.source, in: $0)
            }
            if isKept { return try await retry(notification, after: error, finding: finding, delaysLane: false) }
            let outcome = try await closeRefused(notification, finding: finding)
            return outcome == .unknown ? .forbidden(finding: finding) : outcome
        case .unauthorized, .platformNotRegistered, .conflict, .rateLimited, .failedAtApple, .unexpectedResponse,
            .unreachable, .responseNotReceived, .serverUntrusted:
            return try await retry(notification, after: error, finding: finding)
        }
    }

    /// - Parameter delaysLane: whether the later events of the merchant and address wait for this one, for at most
    ///   ``TokenNotification/longestLaneDelay``. If false, the notification is stored as if it had first failed that
    ///   long ago, so that many such notifications in a row do not each delay the lane for that time.
    private func retry(
        _ notification: TokenNotification, after error: GatewayError, finding: String, delaysLane: Bool = true
    ) async throws -> Outcome {
        let failedAt = delaysLane ? clock.now : clock.now.adding(.zero - TokenNotification.longestLaneDelay)
        let firstFailedAt = notification.firstFailedAt.map { delaysLane ? $0 : min($0, failedAt) } ?? failedAt
        var failed = notification
        failed.failures += 1
        failed.firstFailedAt = firstFailedAt
        failed.finding = finding
        guard !TokenNotificationSchedule.hasExpired(since: firstFailedAt, at: confirmedTime.reading().earliest) else {
            return try await close(failed, as: .failed, finding: finding)
        }
        let pause = TokenNotificationSchedule.pause(
            after: failed.failures, retryAfter: error.retryAfter, jitter: jitter())
        let now = clock.now
        failed.dueAt = now.adding(pause)
        let update = failed
        let isOpen = try await records.write { transaction in
            guard try transaction.isWaiting(notification) else { return false }
            try transaction.update(update, at: now)
            return true
        }
        return isOpen ? .failed(next: update.dueAt, finding: finding) : .closed
    }

    /// Closes a notification whose event Apple refuses.
    private func closeRefused(_ notification: TokenNotification, finding: String) async throws -> Outcome {
        // Apple no longer has an event after 7 days, so this event may have existed.
        let isLate = TokenNotificationSchedule.hasExpired(
            since: notification.receivedAt, at: confirmedTime.reading().earliest)
        return try await close(notification, as: isLate ? .failed : .unknown, finding: finding)
    }

    /// Closes a notification whose event cannot be fetched. If `state` is `failed`, raises an event about the loss.
    private func close(
        _ notification: TokenNotification, as state: TokenNotification.State, finding: String
    ) async throws -> Outcome {
        var closed = notification
        closed.state = state
        closed.finding = finding
        let (update, now) = (closed, clock.now)
        let isOpen = try await records.write { transaction in
            guard try transaction.isWaiting(notification) else { return false }
            try transaction.update(update, at: now)
            if state == .failed { try transaction.append(Event(lossOf: update, finding: finding, at: now)) }
            return true
        }
        guard isOpen else { return .closed }
        return state == .failed ? .lost(finding: finding) : .unknown
    }
}

extension TokenNotificationReading {
    /// Whether the notification still waits. An outcome is stored only for a notification that waits, so that it is
    /// stored once.
    func isWaiting(_ notification: TokenNotification) throws -> Bool {
        try tokenNotification(notification.eventIdentifier, of: notification.merchantIdentifier)?.state == .waiting
    }
}

extension KeyPairReading {
    /// Whose identity certificate authenticates calls for a merchant: the merchant's, if it has an active identity key
    /// pair and is no platform integrator; otherwise the platform's.
    func identityOwner(of merchant: MerchantIdentifier) throws -> IdentityOwner {
        guard !merchant.isPlatformIntegrator else { return .platform }
        return try activeIdentityKeyPairs(of: merchant).isEmpty ? .platform : .merchant(merchant)
    }
}

extension TokenEventFetching.Outcome {
    /// nil if nothing is counted.
    fileprivate var label: MerchantTokenMetrics.Fetch? {
        switch self {
        case .stored: .stored
        case .unknown: .unknown
        case .forbidden: .forbidden
        case .otherMerchant: .otherMerchant
        case .failed: .failed
        case .lost: .lost
        case .paused, .withoutIdentity: .postponed
        case .closed, .cancelled: nil
        }
    }
}
