import Synchronization
package import Vocabulary

/// A clock that does not follow a change of the machine's clock until the change has lasted ``waitingTime``, which is
/// 24 hours.
///
/// The clock starts at the time that the last run stored, and advances with the machine's uptime. If its difference
/// from the machine's clock stays the same for ``waitingTime``, the daemon accepts the machine's clock: the confirmed
/// time is then set to the time of the machine's clock. So a clock that jumps ahead and back within a day, at start or
/// while the daemon runs, does not cause the daemon to perform the scheduled destruction of a key early.
///
/// The stored time does not include the time for which the machine was off. It is later than the true time only if the
/// daemon has accepted a clock that was ahead: after ``waitingTime``, or at once with a new database. If the machine's
/// clock is behind the stored time at start, the confirmed time begins at the stored time.
package final class ConfirmedTime: Sendable {
    /// How long a difference must stay the same before the daemon accepts the machine's clock. If the daemon restarts,
    /// the wait begins again.
    package static let waitingTime = Duration.seconds(86_400)
    /// A difference counts as the same while it changes by no more than this.
    package static let tolerance = Duration.seconds(10)

    private struct State {
        /// The confirmed time when the machine's uptime was ``uptime``.
        var time: Timestamp
        var uptime: Duration
        /// The machine's clock minus the confirmed time, as of ``since``.
        var difference: Duration
        /// The machine's uptime when ``difference`` last changed.
        var since: Duration
        var acceptances = 0
    }

    private let clock: any WallClock
    private let state: Mutex<State>

    /// - Parameter last: the time that the last run stored; nil for a new database, for which the machine's clock is
    ///   accepted at once.
    package init(clock: any WallClock, last: SavedTime? = nil) {
        let (wall, uptime) = (clock.now, clock.uptime)
        let time = last?.continued(to: uptime, onBoot: clock.bootIdentifier, notPast: wall) ?? wall
        self.clock = clock
        state = Mutex(State(time: time, uptime: uptime, difference: wall.since(time), since: uptime))
    }

    /// Compares the machine's clock with the confirmed time. Call this at least every few minutes: a difference that
    /// begins and ends between two calls is not noticed.
    package func reading() -> ClockReading {
        let (wall, uptime) = (clock.now, clock.uptime)
        return state.withLock { state in
            let confirmed = state.time.adding(uptime - state.uptime)
            let difference = wall.since(confirmed)
            if (difference - state.difference).magnitude > Self.tolerance {
                // The machine's clock was set, so the wait begins again.
                (state.difference, state.since) = (difference, uptime)
            } else if uptime - state.since >= Self.waitingTime {
                // The difference has stayed the same for long enough: accept the machine's clock.
                if difference.magnitude > Self.tolerance { state.acceptances += 1 }
                state.time = wall
                state.uptime = uptime
                (state.difference, state.since) = (.zero, uptime)
                return ClockReading(wall: wall, confirmed: wall, steadyFor: .zero)
            }
            return ClockReading(wall: wall, confirmed: confirmed, steadyFor: uptime - state.since)
        }
    }

    /// The earliest time that an event may get; nil unless the machine's clock is set back. Events are removed by age,
    /// so an event with a time that is too early would be removed too early.
    package var earliestEventTime: Timestamp? {
        let time = reading()
        return time.setBack > Self.tolerance ? time.confirmed : nil
    }

    /// How many times the machine's clock was accepted although it differed from the confirmed time.
    package var acceptances: Int { state.withLock { $0.acceptances } }

    /// The time to store for the next run.
    package var savedTime: SavedTime {
        let uptime = clock.uptime
        let confirmed = state.withLock { $0.time.adding(uptime - $0.uptime) }
        return SavedTime(time: confirmed, uptime: uptime, bootIdentifier: clock.bootIdentifier)
    }
}

extension ConfirmedTime {
    /// A confirmed time in its stored form: milliseconds since 1970, the machine's uptime in milliseconds, and the
    /// boot's identifier, as in `1795237200000 86400000 3f1c…`. Uptime and identifier are absent if the boot is
    /// unknown.
    package struct SavedTime: Hashable, Sendable {
        /// The accepted times, in milliseconds since 1970, up to the year 9999. Uptimes have the same upper limit.
        private static let acceptedMilliseconds = 0...Int64(253_402_300_799_999)

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
            let uptimeAndBoot = bootIdentifier.isEmpty ? "" : " \(uptime.milliseconds) \(bootIdentifier)"
            return "\(time.millisecondsSince1970)\(uptimeAndBoot)"
        }

        /// - Returns: nil if the text does not begin with a valid time. If the rest is invalid, the boot counts as
        ///   unknown.
        package init?(text: String) {
            let words = text.split(separator: " ")
            guard let first = words.first, let time = Int64(first), Self.acceptedMilliseconds.contains(time) else {
                return nil
            }
            self.init(time: Timestamp(millisecondsSince1970: time))
            guard words.count == 3, let uptime = Int64(words[1]), Self.acceptedMilliseconds.contains(uptime) else {
                return
            }
            self.init(
                time: self.time, uptime: .milliseconds(uptime), bootIdentifier: String(words[2]))
        }

        /// The confirmed time when the machine's uptime is `uptime`. On the same boot, this is the stored time plus the
        /// uptime since; otherwise it is the stored time.
        ///
        /// - Parameter wall: the machine's clock, which limits the sum: in another container on the same boot, the
        ///   uptime may count from another time, so the difference of the uptimes can be too large.
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
