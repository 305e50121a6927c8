import FoundationEssentials
package import Vocabulary

/// The one clock. Tests move it by hand.
package protocol WallClock: Sendable {
    var now: Timestamp { get }
}

/// The machine's own clock.
package struct SystemClock: WallClock {
    package init() {}

    package var now: Timestamp { Timestamp(Date()) }
}
