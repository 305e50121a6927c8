import FoundationEssentials
package import Vocabulary

/// The machine's clock and its uptime. Tests use an implementation whose times they set.
package protocol WallClock: Sendable {
    /// The date and time. An operator or a time service can set it forward and back.
    var now: Timestamp { get }
    /// Time since the machine booted, including the time for which the machine was suspended. This time cannot be
    /// set.
    var uptime: Duration { get }
    /// Identifies the boot that ``uptime`` counts from; empty if it is unknown.
    var bootIdentifier: String { get }
}

/// The clocks of the machine that the process runs on.
package struct SystemClock: WallClock {
    package init() {}

    package var now: Timestamp { Timestamp(Date()) }
    package var uptime: Duration { Machine.uptime }
    package var bootIdentifier: String { Machine.bootIdentifier }
}
