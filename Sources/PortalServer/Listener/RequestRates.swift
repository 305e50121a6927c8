package import ServerKit
import Synchronization

/// Limits how many requests per minute each caller and each address may send, and slows down clients that guess
/// credentials.
///
/// The functions `count` and ``waitAfterFailedAuthentications(of:)`` return nil if the request is permitted. Otherwise
/// they return the value of the header Retry-After, in seconds, for the server's response with status 429.
package final class RequestRates: Sendable {
    /// A token bucket: `burst` requests at once, and on average `perMinute` requests per minute.
    package struct Rate: Hashable, Sendable {
        package var perMinute: Int
        package var burst: Int

        package init(perMinute: Int, burst: Int) {
            self.perMinute = perMinute
            self.burst = burst
        }
    }

    package struct Limits: Hashable, Sendable {
        /// For each access and each session.
        package var caller = Rate(perMinute: 600, burst: 100)
        /// For each address, with any credentials or none. Several callers may share an address.
        package var address = Rate(perMinute: 1200, burst: 200)
        /// How many requests with wrong credentials each address may send.
        package var failedAuthentication = Rate(perMinute: 6, burst: 20)
        /// How many refusals an address gets without a delay. Each further refusal is delayed by ``refusalDelay``.
        package var promptRefusals = Rate(perMinute: 60, burst: 20)
        /// The delay of a refusal for an address that keeps sending requests in spite of refusals.
        package var refusalDelay = Duration.seconds(1)
        /// How many callers, and how many addresses, are counted at the same time.
        package var maximumEntries = 10_000

        package init() {}
    }

    private struct State: Sendable {
        var callers: TokenBuckets<String>
        var addresses: TokenBuckets<AddressBlock>
        var failures: TokenBuckets<AddressBlock>
        var promptRefusals: TokenBuckets<AddressBlock>
    }

    private let now: @Sendable () -> ContinuousClock.Instant
    private let refusalDelay: Duration
    private let state: Mutex<State>

    package init(
        _ limits: Limits = Limits(), now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) {
        self.now = now
        refusalDelay = limits.refusalDelay
        state = Mutex(
            State(
                callers: TokenBuckets(limits.caller, maximumEntries: limits.maximumEntries),
                addresses: TokenBuckets(limits.address, maximumEntries: limits.maximumEntries),
                failures: TokenBuckets(limits.failedAuthentication, maximumEntries: limits.maximumEntries),
                promptRefusals: TokenBuckets(limits.promptRefusals, maximumEntries: limits.maximumEntries)))
    }

    /// Counts a request from an address. Call this before the request's credentials are checked.
    package func count(address: RemoteAddress) -> Int? {
        let now = now()
        return Self.seconds(state.withLock { $0.addresses.take(address.block, at: now) })
    }

    /// Counts a request of an authenticated caller.
    ///
    /// - Parameter caller: the name of the access, or the identifier of the session.
    package func count(caller: String) -> Int? {
        let now = now()
        return Self.seconds(state.withLock { $0.callers.take(caller, at: now) })
    }

    /// Checks whether an address has sent too many wrong credentials, without counting a request.
    package func waitAfterFailedAuthentications(of address: RemoteAddress) -> Int? {
        let now = now()
        return Self.seconds(state.withLock { $0.failures.wait(address.block, at: now) })
    }

    /// Counts a request with wrong credentials.
    package func countFailedAuthentication(of address: RemoteAddress) {
        let now = now()
        _ = state.withLock { $0.failures.take(address.block, at: now) }
    }

    /// Counts a refusal, and decides whether it is delayed. Without delays, a client that ignores the header
    /// Retry-After and sends requests without a pause would make the portal use as much processor time for refusals as
    /// for answers.
    ///
    /// - Returns: how long the server waits before it sends the refusal; nil if it sends the refusal at once.
    package func delay(ofRefusalFor address: RemoteAddress) -> Duration? {
        let now = now()
        return state.withLock { $0.promptRefusals.take(address.block, at: now) } == nil ? nil : refusalDelay
    }

    /// Rounds up, because Retry-After has no fractions of a second.
    private static func seconds(_ wait: Duration?) -> Int? {
        guard let wait else { return nil }
        let (seconds, attoseconds) = wait.components
        return max(1, Int(seconds) + (attoseconds > 0 ? 1 : 0))
    }
}
