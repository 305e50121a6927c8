/// Divides the time of the daemon's shutdown among the steps that run one after the other.
///
/// Each server takes its drain time from its step, so that all steps together take at most ``limit``. After this time
/// the daemon ends its process. Servers of the same step drain at the same time.
package enum ShutdownBudget {
    /// After this time the daemon ends its process, even if work is in progress. `TimeoutStopSec=` of the systemd unit
    /// must be longer.
    package static let limit = Duration.seconds(30)

    /// The steps of a shutdown, in their order.
    package enum Step: CaseIterable, Sendable {
        /// The admin socket, the issuer socket, the portal and the port for metrics finish their requests. The
        /// decryptor socket still serves, so that a slow client of another server does not interrupt payments.
        case otherServers
        /// The decryptor socket finishes its requests.
        case decryptorServer
        /// The other services store what is only in memory, and the daemon closes its databases. No timer enforces this
        /// limit: it is the time that remains when the servers use up theirs.
        case storing

        /// The longest duration of the step.
        package var time: Duration {
            switch self {
            case .otherServers: .seconds(15)
            case .decryptorServer: .seconds(10)
            case .storing: .seconds(5)
            }
        }
    }
}
