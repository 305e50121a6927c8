package import Vocabulary

/// The time of the machine's clock, and the confirmed time: see ``ConfirmedTime``.
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

    /// The earlier of the two times. This time decides whether irreversible work, such as the destruction of a key, is
    /// due, so that a clock that is ahead does not start the work early.
    package var earliest: Timestamp { min(wall, confirmed) }

    /// The later of the two times. Deadlines and observed uses count from this time, so that a clock that was set back
    /// does not make these times too early.
    package var latest: Timestamp { max(wall, confirmed) }

    /// The machine's clock minus the confirmed time: above zero if the machine's clock is ahead.
    package var difference: Duration {
        .milliseconds(wall.millisecondsSince1970 - confirmed.millisecondsSince1970)
    }

    /// How far the machine's clock is behind the confirmed time; zero if it is ahead.
    package var setBack: Duration { max(.zero, .zero - difference) }

    /// The time on the machine's clock at which the present difference began.
    package var differsSince: Timestamp { wall.adding(.zero - steadyFor) }

    /// The time on the machine's clock at which the daemon will accept that clock, if the difference stays the same.
    package var acceptedAt: Timestamp { differsSince.adding(ConfirmedTime.waitingTime) }
}
