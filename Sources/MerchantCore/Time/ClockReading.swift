package import Vocabulary

/// The time of the machine's clock and the daemon's confirmed time.
package struct ClockReading: Hashable, Sendable {
    /// The machine's clock.
    package let wall: Timestamp
    /// The daemon's confirmed time: the confirmed time that was stored last, plus the time elapsed since.
    package let confirmed: Timestamp
    /// For how long the difference between the two times has stayed the same.
    package let steadyFor: Duration

    package init(wall: Timestamp, confirmed: Timestamp, steadyFor: Duration) {
        self.wall = wall
        self.confirmed = confirmed
        self.steadyFor = steadyFor
    }

    /// A reading in which both times are equal.
    package init(_ time: Timestamp) { self.init(wall: time, confirmed: time, steadyFor: .zero) }

    /// The earlier of the two times. Irreversible work is due by this time, so that a clock that is ahead does not
    /// start the work early.
    package var earliest: Timestamp { min(wall, confirmed) }

    /// The later of the two times. Deadlines and observed uses count from this time, so that a clock that was set back
    /// does not make these times too early.
    package var latest: Timestamp { max(wall, confirmed) }

    /// The machine's clock minus the confirmed time: above zero if the machine's clock is ahead.
    package var difference: Duration {
        .milliseconds(wall.millisecondsSince1970 - confirmed.millisecondsSince1970)
    }

    /// By how much the machine's clock is behind; zero if it is ahead.
    package var setBack: Duration { max(.zero, .zero - difference) }

    /// When the present difference began, by the machine's clock.
    package var differsSince: Timestamp { wall.adding(.zero - steadyFor) }

    /// When the daemon accepts the machine's clock if the difference stays the same, by the machine's clock.
    package var acceptedAt: Timestamp { differsSince.adding(ConfirmedTime.waitingTime) }
}
