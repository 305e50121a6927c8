import Glibc
import MerchantCore

/// Lets only one daemon at a time start on a database. Two daemons that both found an empty database would create two
/// master keys.
package enum StartLock {
    /// The number of the advisory lock: "mkds" in ASCII. PostgreSQL keeps the locks of each database apart.
    private static let number = 0x6D6B_6473

    /// Runs `body` while this process has the lock. Blocks the calling thread.
    ///
    /// - Parameters:
    ///   - limit: how long to wait for another daemon that is starting.
    ///   - durability: only tests pass `notRequired`.
    /// - Throws: `storeUnavailable` if another daemon has the lock for too long, or if the server cannot be reached.
    package static func during<Result>(
        _ settings: ConnectionSettings, waiting limit: Duration = .seconds(120),
        durability: Durability = .required, _ body: () throws -> Result
    ) throws -> Result {
        let connection = try PostgresErrors.translating {
            let opener = ConnectionOpener(settings: settings, notices: .ignoring, durability: durability)
            let connection = try opener.open().connection
            // The start may take minutes, for example to read the master key or to migrate a large table.
            try connection.run("SELECT set_config('idle_session_timeout', '0', false)")
            let deadline = ContinuousClock.now + limit
            while try connection.run("SELECT pg_try_advisory_lock(\(number))") != "t" {
                guard ContinuousClock.now < deadline else {
                    throw MerchantError(
                        .storeUnavailable,
                        "another merchantkeyd has been starting on the same PostgreSQL database for \(limit.components.seconds) seconds; start this one when the other has started"
                    )
                }
                usleep(100_000)
            }
            return connection
        }
        // The server releases the lock when the connection ends.
        return try withExtendedLifetime(connection) { try body() }
    }
}
