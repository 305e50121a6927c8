package import Vocabulary

/// What the machine's clock says, and what the daemon's own count of time says.
package struct ClockReading: Hashable, Sendable {
    /// What the machine's clock says.
    package let wall: Timestamp
    /// The last time that the daemon confirmed, plus the time that has elapsed since.
    package let confirmed: Timestamp
    /// For how long the difference between the two has stayed the same.
    package let steadyFor: Duration

    package init(wall: Timestamp, confirmed: Timestamp, steadyFor: Duration) {
        self.wall = wall
        self.confirmed = confirmed
        self.steadyFor = steadyFor
    }

    /// A clock that is right.
    package init(_ time: Timestamp) { self.init(wall: time, confirmed: time, steadyFor: .zero) }

    /// Scheduled work that cannot be undone is due by this time: a clock that ran ahead does not start it.
    package var earliest: Timestamp { min(wall, confirmed) }

    /// Deadlines and observed uses are counted from this time: a clock that was set back does not make them too early.
    package var latest: Timestamp { max(wall, confirmed) }

    /// Above zero where the machine's clock is ahead.
    package var difference: Duration {
        .milliseconds(wall.millisecondsSince1970 - confirmed.millisecondsSince1970)
    }

    /// By how much the machine's clock is behind; zero where it is ahead.
    package var setBack: Duration { max(.zero, .zero - difference) }

    /// Since when the difference has stayed the same, by the machine's clock.
    package var differsSince: Timestamp { wall.adding(.zero - steadyFor) }

    /// When the machine's clock is accepted if the difference stays the same, by the machine's clock.
    package var acceptedAt: Timestamp { differsSince.adding(ConfirmedTime.waitingTime) }
}
