import MerchantCore
import Vocabulary

/// Leaves Apple alone while it is down: after several failures in a row no call goes out for a while, then one by way of trial.
struct Circuit: Sendable {
    /// Numbers of the circuit.
    struct Policy: Sendable {
        /// Failed exchanges in a row.
        var failures = 10
        var firstPause: Duration = .seconds(30)
        /// Each failed trial doubles the pause up to here.
        var longestPause: Duration = .seconds(300)
    }

    private enum State {
        case closed(failures: Int)
        case open(until: Timestamp, pause: Duration)
        /// One call is on its way to find out.
        case trying(pause: Duration, since: Timestamp)
    }

    private let policy: Policy
    private var state = State.closed(failures: 0)
    private var lastError = ""

    init(policy: Policy = Policy()) { self.policy = policy }

    /// To be asked before each exchange; each that was let through must be reported.
    mutating func admit(at now: Timestamp) throws(GatewayError) {
        switch state {
        case .closed: return
        case .open(let until, let pause):
            guard now < until else {
                state = .trying(pause: pause, since: now)
                return
            }
            throw refusal(seconds: Int((until.millisecondsSince1970 - now.millisecondsSince1970 + 999) / 1000))
        case .trying: throw refusal(seconds: 1)
        }
    }

    /// Apple answered, be it with a refusal.
    mutating func succeeded() { state = .closed(failures: 0) }

    mutating func failed(_ error: GatewayError, at now: Timestamp) {
        lastError = error.description
        switch state {
        case .closed(let failures):
            guard failures + 1 >= policy.failures else {
                state = .closed(failures: failures + 1)
                return
            }
            state = .open(until: now.adding(policy.firstPause), pause: policy.firstPause)
        case .trying(let pause, _):
            let longer = min(policy.longestPause, pause * 2)
            state = .open(until: now.adding(longer), pause: longer)
        // An exchange that began before the circuit opened.
        case .open: return
        }
    }

    /// The exchange ended without telling anything about Apple: it was given up by its caller.
    mutating func undecided(at now: Timestamp) {
        if case .trying(let pause, _) = state { state = .open(until: now, pause: pause) }
    }

    var health: GatewayHealth {
        switch state {
        case .closed: .available
        case .open(let until, _), .trying(_, since: let until): .circuitOpen(until: until, lastError: lastError)
        }
    }

    private func refusal(seconds: Int) -> GatewayError {
        GatewayError(
            .circuitOpen,
            "Apple failed repeatedly and is left alone for \(seconds) s more; the last error was \(lastError)",
            retryAfter: seconds, mayHaveActed: false)
    }
}
