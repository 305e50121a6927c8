import Synchronization
package import Vocabulary

/// The time that the daemon counts itself. Setting the machine's clock does not change it.
///
/// It starts at the time that the last run stored and advances with the machine's uptime. A difference from the machine's clock
/// that stays the same for ``waitingTime`` is accepted, and the machine's clock is used again. So a clock that jumps ahead
/// and back within a day, at start or while the daemon runs, destroys nothing.
///
/// The stored time is never later than the true time: it lacks the time for which the machine was off. A clock that is behind
/// at start does not lower the count: the stored time is known to have passed.
package final class ConfirmedTime: Sendable {
    /// How long a difference must stay the same before the machine's clock is accepted. A restart begins it again.
    package static let waitingTime = Duration.seconds(86_400)
    /// A difference that changes by no more than this has stayed the same.
    package static let tolerance = Duration.seconds(10)

    private struct State {
        var time: Timestamp
        /// The uptime at which it was ``time``.
        var uptime: Duration
        var difference: Duration
        /// The uptime since which ``difference`` has stayed the same.
        var since: Duration
        var acceptances = 0
    }

    private let clock: any WallClock
    private let state: Mutex<State>

    /// - Parameter last: what the last run stored; nil for a new database, which accepts the machine's clock.
    package init(clock: any WallClock, last: Mark? = nil) {
        let (wall, uptime) = (clock.now, clock.uptime)
        let time = last?.continued(to: uptime, onBoot: clock.bootIdentifier, notPast: wall) ?? wall
        self.clock = clock
        state = Mutex(State(time: time, uptime: uptime, difference: wall.since(time), since: uptime))
    }

    /// Compares the two times. Call at least every few minutes: a difference that exists only between two calls
    /// is not noticed.
    package func reading() -> ClockReading {
        let (wall, uptime) = (clock.now, clock.uptime)
        return state.withLock { state in
            let confirmed = state.time.adding(uptime - state.uptime)
            let difference = wall.since(confirmed)
            if (difference - state.difference).magnitude > Self.tolerance {
                (state.difference, state.since) = (difference, uptime)
            } else if uptime - state.since >= Self.waitingTime {
                if difference.magnitude > Self.tolerance { state.acceptances += 1 }
                state.time = wall
                state.uptime = uptime
                (state.difference, state.since) = (.zero, uptime)
                return ClockReading(wall: wall, confirmed: wall, steadyFor: .zero)
            }
            return ClockReading(wall: wall, confirmed: confirmed, steadyFor: uptime - state.since)
        }
    }

    /// How often a difference was accepted.
    package var acceptances: Int { state.withLock { $0.acceptances } }

    /// The time to store for the next run.
    package var mark: Mark {
        let uptime = clock.uptime
        let confirmed = state.withLock { $0.time.adding(uptime - $0.uptime) }
        return Mark(time: confirmed, uptime: uptime, bootIdentifier: clock.bootIdentifier)
    }
}

extension ConfirmedTime {
    /// A confirmed time as it is stored: `1795237200000 86400000 3f1c…`, the last two only if the boot is known.
    package struct Mark: Hashable, Sendable {
        /// Until the year 9999.
        private static let times = 0...Int64(253_402_300_799_999)

        private let time: Timestamp
        private let uptime: Duration
        private let bootIdentifier: String

        /// - Parameters:
        ///   - uptime: the machine's uptime at that time.
        ///   - bootIdentifier: empty if it is unknown; `uptime` is then ignored.
        package init(time: Timestamp, uptime: Duration = .zero, bootIdentifier: String = "") {
            self.time = time
            self.uptime = uptime
            self.bootIdentifier = bootIdentifier
        }

        package var text: String {
            let known = bootIdentifier.isEmpty ? "" : " \(uptime.milliseconds) \(bootIdentifier)"
            return "\(time.millisecondsSince1970)\(known)"
        }

        /// - Returns: nil unless ``text`` writes this form.
        package init?(text: String) {
            let words = text.split(separator: " ")
            guard let first = words.first, let time = Int64(first), Self.times.contains(time) else { return nil }
            self.init(time: Timestamp(millisecondsSince1970: time))
            guard words.count == 3, let uptime = Int64(words[1]), Self.times.contains(uptime) else { return }
            self.init(
                time: self.time, uptime: .milliseconds(uptime), bootIdentifier: String(words[2]))
        }

        /// The time now: on the same boot, the stored time plus the uptime since.
        ///
        /// - Parameter wall: the machine's clock, an upper bound: in a container the uptime may count from another time.
        fileprivate func continued(
            to uptime: Duration, onBoot bootIdentifier: String, notPast wall: Timestamp
        ) -> Timestamp {
            guard !bootIdentifier.isEmpty, bootIdentifier == self.bootIdentifier, uptime >= self.uptime else {
                return time
            }
            return max(time, min(time.adding(uptime - self.uptime), wall))
        }
    }
}

extension Timestamp {
    fileprivate func since(_ other: Timestamp) -> Duration {
        .milliseconds(millisecondsSince1970 - other.millisecondsSince1970)
    }
}

extension Duration {
    package var magnitude: Duration { self < .zero ? .zero - self : self }
}
