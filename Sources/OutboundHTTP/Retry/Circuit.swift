/// A circuit breaker: after several failures in a row it refuses calls for a while, then lets one through as a probe.
///
/// Each call that ``admit(at:)`` lets through must be reported by ``succeeded()``, ``failed(at:)`` or ``abandoned(at:)``.
package struct Circuit<Instant: InstantProtocol>: Sendable where Instant.Duration == Duration {
    package struct Policy: Sendable {
        /// Failures in a row that open the circuit.
        package var failuresToOpen: Int
        /// How long the circuit stays open: the first pause at opening, a longer one after each failed probe.
        package var pause: Backoff

        package init(failuresToOpen: Int, pause: Backoff) {
            self.failuresToOpen = failuresToOpen
            self.pause = pause
        }
    }

    package enum Admission: Hashable, Sendable {
        case admitted
        /// The circuit is open for this long.
        case refused(for: Duration)
        /// A probe is running.
        case probing
    }

    private enum State {
        case closed(failures: Int)
        case open(until: Instant, failedProbes: Int)
        case probing(since: Instant, failedProbes: Int)
    }

    private let policy: Policy
    private var state = State.closed(failures: 0)

    package init(_ policy: Policy) { self.policy = policy }

    package var isClosed: Bool { if case .closed = state { true } else { false } }

    /// When the next probe is allowed, or when the running one began; nil for a closed circuit.
    package var openUntil: Instant? {
        switch state {
        case .closed: nil
        case .open(let time, _), .probing(since: let time, _): time
        }
    }

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

    /// The server responded, if only to refuse the request.
    package mutating func succeeded() { state = .closed(failures: 0) }

    package mutating func failed(at now: Instant) {
        switch state {
        case .closed(let failures):
            guard failures + 1 >= policy.failuresToOpen else {
                state = .closed(failures: failures + 1)
                return
            }
            open(failedProbes: 0, at: now)
        case .probing(_, let failedProbes): open(failedProbes: failedProbes + 1, at: now)
        // A call that was admitted before the circuit opened.
        case .open: return
        }
    }

    /// The call ended without saying anything about the server: its caller gave up.
    package mutating func abandoned(at now: Instant) {
        if case .probing(_, let failedProbes) = state { state = .open(until: now, failedProbes: failedProbes) }
    }

    private mutating func open(failedProbes: Int, at now: Instant) {
        state = .open(
            until: now.advanced(by: policy.pause.pause(after: failedProbes + 1)), failedProbes: failedProbes)
    }
}
