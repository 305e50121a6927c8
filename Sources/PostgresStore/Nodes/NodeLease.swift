import Glibc
package import MerchantCore
import Synchronization

/// The leases of this daemon on a database that several daemons share: one for what it has in memory, and one for the
/// work that only one daemon does.
///
/// ``run()`` renews the leases, and notifies the observers of the changes of other daemons. While the database cannot be
/// reached, the leases end. When a new lease begins, all caches are emptied.
///
/// A renewal has three steps in this order, so that no change is missed: the row in `nodes` gets a later end; then the
/// changes that are committed by now are read and applied; then the lease is extended. A change that is committed after
/// the first step sees the lease and waits for this daemon, and an earlier change is read in the second step.
package final class NodeLease: Sendable {
    /// Why the daemon must end.
    package enum Failure: Error, Hashable {
        /// Another daemon has a lease under the same name.
        case nameInUse
    }

    /// What ``NodeLease`` extends and notifies.
    package struct Dependents: Sendable {
        /// For the caches that are among the observers.
        let memory: Lease
        /// For the work that only one daemon does.
        let tasks: Lease
        let observers: StoreObservers
        /// Called with the reason when the connection is lost, and with nil when a lease begins again.
        let report: @Sendable (MerchantError?) -> Void

        package init(
            memory: Lease, tasks: Lease, observers: StoreObservers,
            report: @escaping @Sendable (MerchantError?) -> Void = { _ in }
        ) {
            (self.memory, self.tasks, self.observers, self.report) = (memory, tasks, observers, report)
        }
    }

    private struct Session {
        let connection: Connection
        var appliedChange: Int
        var nextRenewal: ContinuousClock.Instant
    }

    /// How long to wait after a failure before the next attempt to connect.
    private static let retryInterval = Duration.milliseconds(500)

    package let node: Node
    let timing: LeaseTiming
    private let opener: ConnectionOpener
    private let dependents: Dependents
    private let clock: any WallClock
    private let session = Mutex<Session?>(nil)
    private let stopSignal = StopSignal()

    package init(
        _ database: PostgresDatabase, node: Node, timing: LeaseTiming = LeaseTiming(), _ dependents: Dependents,
        clock: any WallClock
    ) {
        opener = database.opener
        self.node = node
        self.timing = timing
        self.dependents = dependents
        self.clock = clock
    }

    /// Begins the lease. Blocks the calling thread.
    ///
    /// - Parameter limit: how long to wait for the end of a lease of the same name, such as the lease of a run that was
    ///   killed.
    /// - Throws: ``Failure``; `storeUnavailable` if the server cannot be reached or used.
    package func begin(waiting limit: Duration) throws {
        let deadline = ContinuousClock.now + limit
        while true {
            do {
                return try PostgresErrors.translating {
                    let begun = try beginSession(on: try connect())
                    session.withLock { $0 = begun }
                }
            } catch Failure.nameInUse where ContinuousClock.now < deadline {
                usleep(100_000)
            }
        }
    }

    /// Renews the leases until ``stop()`` is called, and then ends them. Blocks the calling thread.
    ///
    /// - Throws: ``Failure``, with which the daemon must end.
    package func run() throws {
        defer { end() }
        while !stopSignal.isSet {
            do {
                var current = try session.withLock { $0 } ?? beginAgain()
                if !dependents.memory.isValid {
                    // The process was stopped, or the machine suspended, for longer than the lease.
                    current = try beginSession(on: current.connection)
                } else if ContinuousClock.now >= current.nextRenewal {
                    try renew(&current)
                }
                keep(current)
                if try current.connection.waitForNotification(
                    until: current.nextRenewal, orBytesOn: stopSignal.descriptor)
                {
                    try apply(&current)
                    keep(current)
                    dependents.observers.events?.eventsChanged()
                }
            } catch let failure as Failure {
                throw failure
            } catch {
                session.withLock { $0 = nil }
                dependents.report(
                    PostgresErrors.translated(error) as? MerchantError
                        ?? MerchantError(.storeUnavailable, "\(error)"))
                stopSignal.wait(for: Self.retryInterval)
            }
        }
    }

    /// Ends ``run()``.
    package func stop() { stopSignal.set() }

    /// Ends the leases. Blocks the calling thread. Call this only if ``run()`` was not called: ``run()`` ends the leases
    /// itself.
    package func end() {
        dependents.memory.extend(to: .now)
        dependents.tasks.extend(to: .now)
        let last = session.withLock { session in
            defer { session = nil }
            return session
        }
        // Without this, the other daemons would wait for this daemon until its lease ends.
        if let last { try? rows(last).leave() }
    }
}

extension NodeLease {
    private func rows(_ session: Session) -> NodeRows { NodeRows(connection: session.connection, node: node) }

    private func keep(_ current: Session) { session.withLock { $0 = current } }

    private func connect() throws -> Connection {
        let connection = try opener.open().connection
        try connection.run("SELECT set_config('idle_session_timeout', '0', false)")
        try connection.run("LISTEN \(ChangeNotice.channel)")
        return connection
    }

    private func beginAgain() throws -> Session {
        let begun = try beginSession(on: try connect())
        dependents.report(nil)
        return begun
    }

    private func beginSession(on connection: Connection) throws -> Session {
        let begin = ContinuousClock.now
        guard
            let last = try NodeRows(connection: connection, node: node).join(for: timing.length, at: clock.now)
        else { throw Failure.nameInUse }
        // Only after the row was committed: a change that does not wait for this daemon is older than what is read now.
        for observer in dependents.observers.keys { observer.allKeysChanged() }
        let session = Session(connection: connection, appliedChange: last, nextRenewal: begin + timing.renewal)
        try extendLeases(session, renewedAt: begin)
        try KeyChangeLog.removeOld(on: connection)
        return session
    }

    private func renew(_ session: inout Session) throws {
        let begin = ContinuousClock.now
        guard try rows(session).renew(for: timing.length) else {
            // The lease ended after ``run()`` had checked it, or an operator has removed the row.
            session = try beginSession(on: session.connection)
            return
        }
        try apply(&session)
        try extendLeases(session, renewedAt: begin)
        session.nextRenewal = begin + timing.renewal
    }

    private func extendLeases(_ session: Session, renewedAt begin: ContinuousClock.Instant) throws {
        let end = begin + timing.length - timing.margin
        dependents.memory.extend(to: end)
        if try rows(session).takeTasks() { dependents.tasks.extend(to: end) }
    }

    private func apply(_ session: inout Session) throws {
        guard let (hashes, last) = try KeyChangeLog.changes(after: session.appliedChange, on: session.connection)
        else { return }
        let changed = Array(hashes)
        for observer in dependents.observers.keys { observer.keysChanged(changed) }
        session.appliedChange = last
        try rows(session).storeApplied(last)
    }
}
