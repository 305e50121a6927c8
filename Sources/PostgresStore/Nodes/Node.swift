package import Vocabulary

/// One run of a daemon on a database that several daemons share.
package struct Node: Hashable, Sendable {
    /// Differs from the name of every other daemon on the database. By default the name of the host.
    package let name: NodeName
    /// A random number, which distinguishes this run from other runs under the same name.
    package let run: Int64
    /// An earlier run that has certainly ended, although its lease may still be valid; nil if there is none.
    let predecessor: Int64?
    /// The version of the program.
    package let version: String

    /// - Parameter run: nil for a new run.
    package init(name: NodeName, run: Int64? = nil, version: String, replacing predecessor: Int64? = nil) {
        self.name = name
        self.run = run ?? Int64.random(in: Int64.min...Int64.max)
        self.predecessor = predecessor
        self.version = version
    }
}

/// How long a lease is, and how often it is renewed.
package struct LeaseTiming: Hashable, Sendable {
    /// The greatest ``length`` of any daemon.
    static let longest = Duration.seconds(60)

    /// How long a lease is valid after its renewal.
    package let length: Duration
    package let renewal: Duration
    /// How long a node may use its caches after the end of its lease. During this time, the other nodes do not wait for
    /// the node.
    package let serveStale: Duration

    /// - Parameter renewal: the time between two renewals; nil for three tenths of `length`.
    package init(length: Duration = .seconds(10), renewal: Duration? = nil, serveStale: Duration = .zero) {
        self.length = length
        self.renewal = renewal ?? length * 3 / 10
        self.serveStale = serveStale
    }

    /// How long a node uses a lease that is valid for `duration` in the database: 5 % less, because clocks drift.
    static func withMargin(_ duration: Duration) -> Duration { duration * 19 / 20 }
}
