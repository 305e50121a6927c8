import Logging
import MerchantCore
import MerchantOperations
import PostgresStore
import Vocabulary

/// Reports when the clocks of this machine and of the database server differ by more than a second. The daemons on a
/// database compare stored times, such as the times of claims, with their own clocks.
struct ServerClockCheck: RecurringTask {
    private static let tolerated = Duration.seconds(1)

    let lease: NodeLease
    let activeFindings: ActiveFindings
    let logger: Logger

    mutating func run() async {
        let difference = lease.clockDifferenceFromServer
        guard difference > Self.tolerated else { return activeFindings.clear(.serverClockDiffers) }
        let detail =
            "the clock of this machine and the clock of the PostgreSQL server differ by \(difference.components.seconds.counted("second", "seconds")) or more: synchronize both clocks (NTP)"
        if activeFindings.severity(of: .serverClockDiffers) == nil { logger.warning("\(detail)") }
        activeFindings.set(.serverClockDiffers, .warning, detail)
    }
}
