/// A circuit breaker: after several consecutive failures it refuses calls for a while, then admits one call as a probe.
///
/// For each call that ``admit(at:)`` admits, report the result with ``succeeded()``, ``failed(at:)`` or
/// ``abandoned(at:)``.
package struct Circuit<Instant: InstantProtocol>: Sendable where Instant.Duration == Duration {
    package struct Policy: Sendable {
        /// The number of consecutive failures that opens the circuit.
        package var failuresToOpen: Int
        /// How long the circuit stays open before a probe. The pause gets longer with each failed probe.
        package var pause: Backoff

        package init(failuresToOpen: Int, pause: Backoff) {
            self.failuresToOpen = failuresToOpen
            self.pause = pause
        }
    }

    package enum Admission: Hashable, Sendable {
        case admitted
        /// The circuit is open and admits no call for this duration.
        case refused(for: Duration)
        /// The circuit waits for the result of the probe, and admits no other call.
        case probing
    }

    private enum State {
        case closed(failures: Int)
        case open(until: Instant, failedProbes: Int)
        /// The probe was admitted, and its result is not known yet.
        case probing(since: Instant, failedProbes: Int)
    }

    private let policy: Policy
    private var state = State.closed(failures: 0)

    package init(_ policy: Policy) { self.policy = policy }

    package var isClosed: Bool { if case .closed = state { true } else { false } }

    /// The earliest time of the next probe. While a probe runs: the time when it began. nil if the circuit is closed.
    package var openUntil: Instant? {
        switch state {
        case .closed: nil
        case .open(let time, _), .probing(since: let time, _): time
        }
    }

    /// Decides whether a call may be made now. The first call after the pause of an open circuit is the probe.
    package mutating func admit(at now: Instant) -> Admission {
        switch state {
        case .closed: return .admitted
        case .open(let until, let failedProbes):
            guard now >= until else { return .refused(for: now.duration(to: until)) }
            state = .probing(since: now, failedProbes: failedProbes)
            return .admitted
        case .probing: return .probing
        }
    }

    /// Records that the server responded. A response that refuses the request counts too.
    package mutating func succeeded() { state = .closed(failures: 0) }

    /// Records that the call failed. Opens the circuit if the call was a probe, or if ``Policy/failuresToOpen``
    /// consecutive calls have failed.
    package mutating func failed(at now: Instant) {
        switch state {
        case .closed(let failures):
            guard failures + 1 >= policy.failuresToOpen else {
                state = .closed(failures: failures + 1)
                return
            }
            open(failedProbes: 0, at: now)
        case .probing(_, let failedProbes): open(failedProbes: failedProbes + 1, at: now)
        // The call was admitted before the circuit opened, so it was no probe.
        case .open: return
        }
    }

    /// Records that the call ended without showing whether the server works, for example because its caller cancelled
    /// the call. If the call was the probe, the next call becomes the probe.
    package mutating func abandoned(at now: Instant) {
        if case .probing(_, let failedProbes) = state { state = .open(until: now, failedProbes: failedProbes) }
    }

    private mutating func open(failedProbes: Int, at now: Instant) {
        state = .open(
            until: now.advanced(by: policy.pause.pause(after: failedProbes + 1)), failedProbes: failedProbes)
    }
}
