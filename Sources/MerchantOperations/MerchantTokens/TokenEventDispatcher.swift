package import MerchantCore
import Vocabulary

/// Fetches the events of merchant tokens as soon as their notifications are due.
///
/// The notifications of one merchant from one address form a *lane*. The events of a lane are fetched one after
/// another, in the order in which the notifications arrived. An event whose attempts fail delays its lane for at most
/// 10 minutes: then later notifications overtake it, see
/// ``TokenNotificationReading/nextTokenNotifications(dueAt:excluding:limit:)``. The events of different lanes are
/// fetched concurrently. The store selects the lanes in turn, so that many notifications from some addresses do not
/// delay those from other addresses.
///
/// The store records which events were fetched. This actor only remembers in which lanes an attempt is running, until
/// when calls are paused, and which merchants have no identity.
package actor TokenEventDispatcher {
    package struct Limits: Sendable {
        /// The largest number of events that are fetched at once.
        package var concurrentAttempts = 8
        /// The longest time until the due times are compared with the clock again.
        package var longestSleep = Duration.seconds(5)
        /// The pause of all attempts after a failure of the store.
        package var pauseAfterStoreFailure = Duration.seconds(2)
        /// The shortest pause for a merchant without an identity. The pause ends earlier if the identity keys of the
        /// merchant or of the platform change.
        package var pauseWithoutIdentity = Duration.seconds(30)
        /// Each pause has at least this duration times the number of paused merchants, up to
        /// ``longestPauseWithoutIdentity``. Otherwise the attempts for many merchants without an identity would take
        /// all turns.
        package var pauseForEachWithoutIdentity = Duration.milliseconds(20)
        /// The longest pause. It is limited so that the daemon soon uses an identity whose files have changed or whose
        /// certificate becomes valid.
        package var longestPauseWithoutIdentity = Duration.seconds(300)
        /// How long a stop waits for the attempts that are running.
        package var shutdownGracePeriod = Duration.seconds(5)

        package init() {}
    }

    /// What the dispatcher reports, for the log.
    package enum Report: Sendable {
        /// The result of an attempt.
        case attempt(TokenNotification, TokenEventFetching.Outcome)
        /// The store could not be read or written.
        case storeFailure(any Error)
    }

    struct Lane: Hashable {
        let merchant: MerchantIdentifier
        let source: String
    }

    /// The shortest time between two counts of the waiting notifications, for the metrics.
    private static let countInterval = Duration.seconds(5)

    private let fetching: TokenEventFetching
    private let arrivals: ChangeSignal
    private let changedKeys: ChangedKeys
    private let limits: Limits
    private let caller: Caller
    private let report: @Sendable (Report) -> Void
    /// For each element, ``run()`` starts the attempts that are due.
    private let wakeUps: AsyncStream<Void>
    private nonisolated let wakeUp: AsyncStream<Void>.Continuation

    private var busy: Set<Lane> = []
    private var pausedUntil: ContinuousClock.Instant?
    private var identityPauses = IdentityPauses()
    /// The lanes with a running attempt whose merchant may have received an identity since the attempt began.
    private var lanesWithChangedIdentity: Set<Lane> = []
    /// When the earliest repeat of a failed attempt is due.
    private var nextRetry: ContinuousClock.Instant?
    private var countedAt: ContinuousClock.Instant?
    private var timer: Task<Void, Never>?

    /// - Parameters:
    ///   - arrivals: signals that a notification has arrived.
    ///   - changedKeys: collects changed key pairs. Must be an observer of the store.
    ///   - caller: the caller in audit records.
    package init(
        fetching: TokenEventFetching, arrivals: ChangeSignal, changedKeys: ChangedKeys, limits: Limits = Limits(),
        caller: Caller, report: @escaping @Sendable (Report) -> Void
    ) {
        self.fetching = fetching
        self.arrivals = arrivals
        self.changedKeys = changedKeys
        self.limits = limits
        self.caller = caller
        self.report = report
        (wakeUps, wakeUp) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Ends the fetching: no further attempts start, and ``run()`` returns within the grace period.
    package nonisolated func stop() { wakeUp.finish() }

    /// Fetches events until ``stop()`` is called.
    package func run() async {
        let (arrivals, wakeUp) = (arrivals, wakeUp)
        let listener = Task {
            var generation = arrivals.generation
            while !Task.isCancelled {
                await arrivals.wait(after: generation)
                generation = arrivals.generation
                wakeUp.yield()
            }
        }
        let keyListener = Task {
            var generation = changedKeys.signal.generation
            while !Task.isCancelled {
                await changedKeys.signal.wait(after: generation)
                generation = changedKeys.signal.generation
                await endIdentityPauses()
            }
        }
        await withDiscardingTaskGroup { attempts in
            wakeUp.yield()
            for await _ in wakeUps {
                await countWaiting()
                await startDueAttempts(&attempts)
            }
            // An event whose attempt does not finish in the grace period is fetched again after the next start.
            let deadline = ContinuousClock.now + limits.shutdownGracePeriod
            while !busy.isEmpty, !Task.isCancelled, ContinuousClock.now < deadline {
                try? await Task.sleep(for: .milliseconds(20))
            }
            attempts.cancelAll()
        }
        listener.cancel()
        keyListener.cancel()
        timer?.cancel()
    }

    /// Starts the attempts that are due, as many as the limits allow, and sets the timer for the next check.
    private func startDueAttempts(_ attempts: inout DiscardingTaskGroup) async {
        // Due notifications are not forgotten: this method is called again when an attempt ends.
        guard busy.count < limits.concurrentAttempts else { return }
        let now = ContinuousClock.now
        if let pausedUntil, pausedUntil > now { return wake(after: pausedUntil - now) }
        pausedUntil = nil
        identityPauses.removeExpired(at: now)
        if let retry = nextRetry, retry <= now { nextRetry = nil }
        let due: [TokenNotification]
        do { due = try await nextOfFreeLanes() } catch {
            report(.storeFailure(error))
            return pause(for: limits.pauseAfterStoreFailure)
        }
        for notification in due.prefix(limits.concurrentAttempts - busy.count) {
            busy.insert(Lane(notification))
            attempts.addTask { await self.attempt(notification) }
        }
        wake(after: nextRetry.map { $0 - .now } ?? limits.longestSleep)
    }

    /// The due notifications of the lanes without a running attempt, except those of merchants without an identity.
    private func nextOfFreeLanes() async throws -> [TokenNotification] {
        // A copy, because an attempt may end while the notifications are read. The result may still contain the
        // notification of that attempt, so its lane must count as busy.
        let busy = busy
        // An attempt without an identity stores nothing, so the store would return the merchant's lanes first again. If
        // they were not excluded, they could fill the result, and the events of other merchants would wait.
        let due = try await fetching.next(
            excluding: identityPauses.merchants, limit: limits.concurrentAttempts + busy.count)
        return due.filter { !busy.contains(Lane($0)) }
    }

    private func attempt(_ notification: TokenNotification) async {
        do {
            let outcome = try await fetching.fetch(notification, as: caller)
            report(.attempt(notification, outcome))
            switch outcome {
            case .paused(let duration): pause(for: duration)
            case .withoutIdentity(let owner, _):
                guard !lanesWithChangedIdentity.contains(Lane(notification)) else { break }
                let pause = min(
                    limits.longestPauseWithoutIdentity,
                    max(limits.pauseWithoutIdentity, limits.pauseForEachWithoutIdentity * identityPauses.count))
                identityPauses.add(notification.merchantIdentifier, without: owner, until: .now + pause)
            case .failed(let next, _):
                let pause = next.millisecondsSince1970 - fetching.now.millisecondsSince1970
                let retry = ContinuousClock.now + .milliseconds(max(10, pause))
                nextRetry = min(nextRetry ?? retry, retry)
            case .stored, .unknown, .forbidden, .otherMerchant, .lost, .closed, .cancelled: break
            }
        } catch {
            if !Task.isCancelled { report(.storeFailure(error)) }
            pause(for: limits.pauseAfterStoreFailure)
        }
        busy.remove(Lane(notification))
        lanesWithChangedIdentity.remove(Lane(notification))
        wakeUp.yield()
    }

    /// Ends the pauses of the merchants that may have an identity now, because their keys or the platform's keys have
    /// changed.
    private func endIdentityPauses() async {
        let changes = changedKeys.take()
        // If no merchant is paused and no attempt is running, the changes do not matter.
        guard !identityPauses.isEmpty || !busy.isEmpty else { return }
        if case .keys(let hashes) = changes, let owners = try? await fetching.owners(ofIdentityKeys: hashes) {
            guard !owners.isEmpty else { return }
            identityPauses.identitiesChanged(of: owners)
            // An attempt that is running may have read the store before the change.
            let platformChanged = owners.contains(where: \.isPlatformIntegrator)
            lanesWithChangedIdentity.formUnion(busy.filter { platformChanged || owners.contains($0.merchant) })
        } else {
            // Many keys have changed, or the store cannot be read. The next attempt reports a failure of the store.
            identityPauses.removeAll()
            lanesWithChangedIdentity = busy
        }
        wakeUp.yield()
    }

    /// Starts no attempts for a while.
    private func pause(for duration: Duration) {
        let until = ContinuousClock.now + duration
        pausedUntil = max(pausedUntil ?? until, until)
        wake(after: duration)
    }

    /// Makes ``run()`` check for due notifications after a pause.
    private func wake(after pause: Duration) {
        timer?.cancel()
        let wakeUp = wakeUp
        timer = Task { [longest = limits.longestSleep] in
            guard (try? await Task.sleep(for: max(.zero, min(pause, longest)))) != nil else { return }
            wakeUp.yield()
        }
    }

    private func countWaiting() async {
        let now = ContinuousClock.now
        guard countedAt.map({ now - $0 >= Self.countInterval }) ?? true else { return }
        countedAt = now
        // If the store cannot be read, the next read of the notifications reports this.
        try? await fetching.countWaiting()
    }
}

extension TokenEventDispatcher.Lane {
    fileprivate init(_ notification: TokenNotification) {
        self.init(merchant: notification.merchantIdentifier, source: notification.source)
    }
}
