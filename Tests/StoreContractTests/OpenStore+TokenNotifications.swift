import MerchantCore
import Testing
import Vocabulary

extension StoreUnderTest {
    /// A store with the merchants 0 and 1.
    func openWithMerchants() async throws -> OpenStore {
        let store = try open()
        for number in 0...1 { try await store.storeMerchant(number) }
        return store
    }
}

/// Notifications of merchant tokens, each with the number of its event.
extension OpenStore {
    /// - Returns: whether the notification is new.
    @discardableResult
    func notify(_ event: Int, of merchant: Int = 0, from source: String = "a", at seconds: Int) async throws -> Bool {
        try await write {
            try $0.insertTokenNotification(
                Sample.tokenEvent(event), of: Sample.identifier(merchant), from: source, at: Sample.time(seconds))
        }
    }

    func notification(_ event: Int, of merchant: Int = 0) async throws -> TokenNotification? {
        try await read { try $0.tokenNotification(Sample.tokenEvent(event), of: Sample.identifier(merchant)) }
    }

    func queue() async throws -> TokenNotificationQueue { try await read { try $0.waitingTokenNotifications() } }

    /// The numbers of the events that may be fetched at the time `seconds`.
    func next(
        at seconds: Int, excluding merchants: Set<MerchantIdentifier> = [], limit: Int = 100
    ) async throws -> [Int?] {
        try await read {
            try $0.nextTokenNotifications(dueAt: Sample.time(seconds), excluding: merchants, limit: limit).map {
                Int($0.eventIdentifier.rawValue.dropFirst("event-".count))
            }
        }
    }

    /// Stores an attempt after which the notification has another state, which closes it.
    func attempt(
        _ event: Int, of merchant: Int = 0, _ state: TokenNotification.State, at seconds: Int
    ) async throws {
        var changed = try #require(try await notification(event, of: merchant))
        changed.state = state
        let update = changed
        try await write { try $0.update(update, at: Sample.time(seconds)) }
    }

    /// Stores a failed attempt.
    ///
    /// - Parameter pause: the time until the next attempt.
    func attempt(_ event: Int, of merchant: Int = 0, failing pause: Duration, at seconds: Int) async throws {
        var changed = try #require(try await notification(event, of: merchant))
        changed.failures += 1
        changed.firstFailedAt = changed.firstFailedAt ?? Sample.time(seconds)
        changed.dueAt = Sample.time(seconds).adding(pause)
        let update = changed
        try await write { try $0.update(update, at: Sample.time(seconds)) }
    }
}
