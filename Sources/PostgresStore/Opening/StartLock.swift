import Glibc
import MerchantCore

/// Lets only one daemon at a time start on a database. Two daemons that both found an empty database would create two
/// master keys. A copy of a store also holds the lock, so that no daemon starts during the copy.
package struct StartLock: Sendable {
    /// The number of the advisory lock: "mkds" in ASCII. Each database has its own advisory locks.
    private static let number = 0x6D6B_6473

    /// The server releases the lock when the connection ends.
    private let connection: Connection

    /// Waits for the lock, and blocks the calling thread.
    ///
    /// - Parameters:
    ///   - limit: how long to wait for another daemon that is starting, or for a copy of the store.
    ///   - durability: only tests pass `notRequired`.
    /// - Throws: `storeUnavailable` if another process still has the lock after `limit`, or if the server cannot be
    ///   reached.
    package init(
        _ settings: ConnectionSettings, waiting limit: Duration = .seconds(120), durability: Durability = .required
    ) throws {
        connection = try PostgresErrors.translating {
            let opener = ConnectionOpener(settings: settings, notices: .ignoring, durability: durability)
            let connection = try opener.open().connection
            // The start may take minutes, for example to read the master key or to migrate a large table.
            try connection.run("SELECT set_config('idle_session_timeout', '0', false)")
            let deadline = ContinuousClock.now + limit
            while try connection.run("SELECT pg_try_advisory_lock(\(Self.number))") != "t" {
                guard ContinuousClock.now < deadline else {
                    throw MerchantError(
                        .storeUnavailable,
                        "another merchantkeyd has been starting on the same PostgreSQL database for \(limit.components.seconds) seconds, or a copy of the store is running; try again when the other daemon has started or the copy has ended"
                    )
                }
                usleep(100_000)
            }
            return connection
        }
    }

    /// Runs `body` while this process has the lock. The parameters and errors are those of the initializer.
    package static func during<Result>(
        _ settings: ConnectionSettings, waiting limit: Duration = .seconds(120),
        durability: Durability = .required, _ body: () throws -> Result
    ) throws -> Result {
        let lock = try StartLock(settings, waiting: limit, durability: durability)
        return try withExtendedLifetime(lock) { try body() }
    }

    /// Checks that no daemon runs on the database, and that this process still has the lock. So no daemon has started
    /// since the lock was taken.
    ///
    /// - Throws: `storeUnavailable` with the names of the daemons; or if the connection, and with it the lock, was
    ///   lost.
    package func requireNoDaemon() throws {
        try PostgresErrors.translating {
            guard try connection.run("SELECT to_regclass('merchantkeyd.nodes') IS NOT NULL") == "t" else { return }
            // As the daemons do, treats a lease as valid for one second after its end.
            let names = try connection.run(
                """
                SELECT string_agg(name, ', ' ORDER BY name) FROM merchantkeyd.nodes
                WHERE lease_end > clock_timestamp() - interval '1 second'
                """)
            guard let names else { return }
            throw MerchantError(
                .storeUnavailable,
                "a daemon uses the PostgreSQL database: \(names); stop it, and repeat the command. After a crash of the daemon, wait until its lease has ended, at most a minute"
            )
        }
    }
}
