import MerchantCore
import Synchronization
import Vocabulary

/// Decides whether one more notification may wait, so that no address can use up the places of other addresses.
///
/// ``MerchantTokenPolicy/places(total:)`` defines how many places an address has.
///
/// It would take too long to count the stored notifications for each request. So this object counts them at most once a
/// second, and adds the notifications that were accepted since.
final class WaitingNotifications: Sendable {
    /// How long a count is used.
    static let countAge = Duration.seconds(1)
    /// The largest number of addresses whose counts are kept.
    static let maximumAddresses = 10_000

    private struct Count {
        var waiting: Int
        let countedAt: ContinuousClock.Instant
    }

    private struct State {
        var total: Count?
        var byAddress: [String: Count] = [:]
    }

    private let policy: MerchantTokenPolicy
    private let state = Mutex(State())

    init(policy: MerchantTokenPolicy) { self.policy = policy }

    /// Counts the stored notifications, unless the last count is recent.
    func refresh(from source: String, in reading: any TokenNotificationReading) throws {
        let now = ContinuousClock.now
        let (needsTotal, needsAddress) = state.withLock { state in
            (Self.isOld(state.total, at: now), Self.isOld(state.byAddress[source], at: now))
        }
        let total = needsTotal ? try reading.waitingTokenNotifications().waiting : nil
        let ofAddress = needsAddress ? try reading.waitingTokenNotifications(from: source) : nil
        state.withLock { state in
            if let total { state.total = Count(waiting: total, countedAt: now) }
            guard let ofAddress else { return }
            if state.byAddress.count >= Self.maximumAddresses {
                state.byAddress = state.byAddress.filter { !Self.isOld($0.value, at: now) }
                // Without this limit, requests from many addresses within one second could fill the memory.
                if state.byAddress.count >= Self.maximumAddresses { state.byAddress = [:] }
            }
            state.byAddress[source] = Count(waiting: ofAddress, countedAt: now)
        }
    }

    /// Takes a place for one notification.
    ///
    /// - Returns: false if no place is free for this address.
    func take(for source: String) -> Bool {
        state.withLock { state in
            let total = state.total?.waiting ?? 0
            let ofAddress = state.byAddress[source]?.waiting ?? 0
            guard ofAddress < policy.places(total: total) else { return false }
            state.total?.waiting += 1
            state.byAddress[source]?.waiting += 1
            return true
        }
    }

    /// Gives back a place that was taken for a notification that was not stored.
    func giveBack(for source: String) {
        state.withLock { state in
            state.total?.waiting -= 1
            state.byAddress[source]?.waiting -= 1
        }
    }

    private static func isOld(_ count: Count?, at now: ContinuousClock.Instant) -> Bool {
        count.map { now - $0.countedAt >= countAge } ?? true
    }
}
