package import MerchantCore
import Vocabulary

/// Stores the notifications that Apple sends about merchant tokens.
///
/// Anyone can send a notification. It contains only the identifier of an event, which ``TokenEventFetching`` fetches
/// from Apple.
package struct TokenNotificationIntake: Sendable {
    package typealias Records = Transactions<
        any MerchantReading & TokenNotificationReading, any TokenNotificationWriting
    >

    package enum Result: Sendable {
        case stored
        /// The notification is stored already.
        case repeated
        /// The daemon knows no merchant for the notification, or the identifier of the event is not valid.
        case ignored
    }

    /// Why a server refuses a notification.
    package enum Refusal: Sendable {
        /// The address is not one of `merchant-tokens.sources`.
        case source
        /// The address sends more than `merchant-tokens.notifications-per-minute`.
        case rate
    }

    /// After this many seconds, the sender of a refused notification may repeat it.
    private static let retryAfter = 60

    private let records: Records
    private let policy: MerchantTokenPolicy
    private let waiting: WaitingNotifications
    private let metrics: MerchantTokenMetrics
    /// Wakes the tasks that fetch events.
    private let arrivals: ChangeSignal
    private let clock: any WallClock

    package init(
        records: Records, policy: MerchantTokenPolicy, metrics: MerchantTokenMetrics, arrivals: ChangeSignal,
        clock: any WallClock
    ) {
        self.records = records
        self.policy = policy
        waiting = WaitingNotifications(policy: policy)
        self.metrics = metrics
        self.arrivals = arrivals
        self.clock = clock
    }

    /// Stores a notification, unless it is stored already or must be ignored. When this method returns `stored` or
    /// `repeated`, the notification is on stable storage.
    ///
    /// - Parameters:
    ///   - event: Apple's identifier of the event.
    ///   - secret: the part of the path that identifies the merchant; nil if the path has none.
    ///   - source: the address that sent the notification.
    /// - Throws: `storeUnavailable`; `overloaded` if too many notifications wait.
    package func receive(_ event: String, secret: String?, from source: String) async throws -> Result {
        guard let event = MerchantTokenEventIdentifier(text: event) else { return ignore(.malformedEvent) }
        do {
            return try await receive(event, secret: secret, from: source)
        } catch let error as MerchantError where error.code == .overloaded {
            metrics.count(.overLimit, at: clock.now)
            throw error
        } catch {
            metrics.count(.notStored, at: clock.now)
            throw error
        }
    }

    /// Counts a notification that the server refuses before it calls ``receive(_:secret:from:)``.
    package func countRefusal(_ cause: Refusal) {
        metrics.count(cause == .source ? .sourceRefused : .rateLimited, at: clock.now)
    }

    private enum Lookup {
        case merchant(MerchantIdentifier)
        case stored
        case ignored(MerchantTokenMetrics.Notification)
    }

    private func receive(
        _ event: MerchantTokenEventIdentifier, secret: String?, from source: String
    ) async throws -> Result {
        // Most invalid notifications end here, in a read transaction, so that they do not delay other writes.
        let lookup = try await records.read { [policy, waiting] reading -> Lookup in
            let merchant: MerchantIdentifier
            if let secret {
                guard TokenNotificationPath.isValid(secret: secret),
                    let path = try reading.tokenNotificationPath(secret)
                else { return .ignored(.unknownPath) }
                merchant = path.merchantIdentifier
            } else {
                guard let found = try reading.merchantOfNotificationsWithoutSecret(by: policy) else {
                    return .ignored(.noMerchant)
                }
                merchant = found
            }
            guard try reading.tokenNotification(event, of: merchant) == nil else { return .stored }
            try waiting.refresh(from: source, in: reading)
            return .merchant(merchant)
        }
        switch lookup {
        case .ignored(let cause): return ignore(cause)
        case .stored: return countRepeat()
        case .merchant(let merchant): return try await store(event, of: merchant, from: source)
        }
    }

    private func store(
        _ event: MerchantTokenEventIdentifier, of merchant: MerchantIdentifier, from source: String
    ) async throws -> Result {
        guard waiting.take(for: source) else {
            throw MerchantError(
                .overloaded,
                "the notification is not stored, because too many notifications from this address, or in all, wait for their events to be fetched from Apple: send it again later",
                retryAfter: Self.retryAfter)
        }
        let now = clock.now
        let isNew: Bool
        do {
            isNew = try await records.write {
                try $0.insertTokenNotification(event, of: merchant, from: source, at: now)
            }
        } catch {
            waiting.giveBack(for: source)
            guard (error as? MerchantError)?.code != .merchantNotFound else { return ignore(.noMerchant) }
            throw error
        }
        guard isNew else {
            waiting.giveBack(for: source)
            return countRepeat()
        }
        metrics.count(.stored, at: now)
        arrivals.send()
        return .stored
    }

    private func countRepeat() -> Result {
        metrics.count(.repeated, at: clock.now)
        return .repeated
    }

    private func ignore(_ cause: MerchantTokenMetrics.Notification) -> Result {
        metrics.count(cause, at: clock.now)
        return .ignored
    }
}

extension TokenNotificationPath {
    static let secretLength = 32

    static func isValid(secret: String) -> Bool {
        secret.utf8.count == secretLength && secret.utf8.allSatisfy(Self.characters.contains)
    }

    private static let characters: [UInt8] = Array(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".utf8)

    /// Generates a secret with 190 random bits. On Linux, `SystemRandomNumberGenerator` reads random bytes from the
    /// kernel.
    static func newSecret() -> String {
        var generator = SystemRandomNumberGenerator()
        return String(
            decoding: (0..<secretLength).map { _ in
                characters[Int.random(in: 0..<characters.count, using: &generator)]
            }, as: UTF8.self)
    }
}

extension MerchantReading {
    /// The merchant of the notifications whose path contains no secret: the merchant of the settings, or the only
    /// platform integrator.
    ///
    /// - Returns: nil if there is no such merchant.
    func merchantOfNotificationsWithoutSecret(by policy: MerchantTokenPolicy) throws -> MerchantIdentifier? {
        if let merchant = policy.merchantIdentifier {
            guard let record = try self.merchant(merchant), record.removedAt == nil else { return nil }
            return merchant
        }
        let integrators = try platformIntegrators(limit: 2)
        return integrators.count == 1 ? integrators.first : nil
    }
}
