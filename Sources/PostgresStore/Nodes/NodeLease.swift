import Glibc
package import MerchantCore
import Synchronization
import Vocabulary

/// The leases of this daemon on a database that several daemons share: one for its caches, and one for the role of the
/// leader, which does the work that only one daemon does.
///
/// ``run(hasDataKey:)`` renews the leases, and notifies the observers of the changes of other daemons. If the database
/// cannot be reached for longer than a lease, the leases end. When a new lease begins, all caches are emptied.
///
/// A renewal has three steps in this order, so that no change is missed: the row in `nodes` gets a later end; then the
/// changes that are committed by now are read and applied; then the lease is extended. A change that is committed after
/// the first step sees the lease and waits for this daemon, and an earlier change is read in the second step.
package final class NodeLease: Sendable {
    /// Why the daemon must exit.
    package enum Failure: Error, Hashable {
        /// Another daemon has a lease under the same name.
        case nameInUse
        /// Another daemon has rotated the keys while this one had no lease, and this one cannot load the new data key.
        case keysRotated
    }

    /// The leases that ``NodeLease`` extends, and the caches that it notifies.
    package struct Dependents: Sendable {
        /// Without this lease, the caches among the observers must not be used. It ends later than the node's lease by
        /// ``LeaseTiming/serveStale``.
        let cacheLease: Lease
        /// While this lease is valid, this daemon is the leader.
        let leaderLease: Lease
        let observers: StoreObservers
        /// Called with the reason when the leases cannot be renewed, and with nil when they begin again.
        let report: @Sendable (MerchantError?) -> Void

        package init(
            cacheLease: Lease, leaderLease: Lease, observers: StoreObservers,
            report: @escaping @Sendable (MerchantError?) -> Void = { _ in }
        ) {
            (self.cacheLease, self.leaderLease, self.observers, self.report) = (
                cacheLease, leaderLease, observers, report
            )
        }
    }

    /// Whether the daemon has the data key with this identifier.
    package typealias DataKeyCheck = @Sendable (Int) -> Bool

    private struct Session {
        let connection: Connection
        var appliedChange: Int
        var nextRenewal: ContinuousClock.Instant
        var nextRemoval = ContinuousClock.now
    }

    /// How often rows that are not needed any more are removed.
    private static let removalInterval = Duration.seconds(600)
    /// How long the daemon may take to load the data key of a rotation. Loading may include running a command.
    package static let longestLoading = Duration.seconds(300)
    /// How long to wait after a failure before the next attempt to connect.
    private static let retryInterval = Duration.milliseconds(500)

    package let node: Node
    let timing: LeaseTiming
    private let opener: ConnectionOpener
    private let dependents: Dependents
    private let longestLoading: Duration
    private let clock: any WallClock
    private let session = Mutex<Session?>(nil)
    /// The lease of this node.
    private let lease = Lease()
    /// In milliseconds.
    private let clockDifference = Atomic(0)
    private let stopSignal = StopSignal()

    /// - Parameters:
    ///   - longestLoading: how long the daemon may take to load a new data key; tests pass a short time.
    package init(
        _ database: PostgresDatabase, node: Node, timing: LeaseTiming = LeaseTiming(), _ dependents: Dependents,
        longestLoading: Duration = NodeLease.longestLoading, clock: any WallClock
    ) {
        opener = database.opener
        self.node = node
        self.timing = timing
        self.dependents = dependents
        self.longestLoading = longestLoading
        self.clock = clock
    }

    /// Begins the lease. Blocks the calling thread.
    ///
    /// - Parameter limit: how long to wait for the end of a lease of the same name, such as the lease of a run that was
    ///   killed.
    /// - Throws: ``Failure``; `storeUnavailable` if the server cannot be reached or used, or has lost transactions.
    package func begin(waiting limit: Duration) throws {
        let deadline = ContinuousClock.now + limit
        while true {
            do {
                return try PostgresErrors.translating {
                    let begun = try beginSession(on: try connect(), nil)
                    session.withLock { $0 = begun }
                }
            } catch Failure.nameInUse where ContinuousClock.now < deadline {
                usleep(100_000)
            }
        }
    }

    /// Renews the leases until ``stop()`` is called, and then ends them. Blocks the calling thread.
    ///
    /// - Parameter hasDataKey: whether the daemon has the data key with this identifier.
    /// - Throws: ``Failure`` or ``LostTransactions``. The daemon must then exit.
    package func run(hasDataKey: @escaping DataKeyCheck) throws {
        defer { end() }
        while !stopSignal.isSet {
            do {
                var current = try session.withLock { $0 } ?? beginAgain(hasDataKey)
                if !lease.isValid {
                    // The process was paused, or the machine suspended, for longer than the lease.
                    current = try beginSession(on: current.connection, hasDataKey)
                } else if ContinuousClock.now >= current.nextRenewal {
                    try renew(&current, hasDataKey)
                }
                keep(current)
                if try current.connection.waitForNotification(
                    until: current.nextRenewal, orBytesOn: stopSignal.descriptor)
                {
                    try apply(&current)
                    keep(current)
                    dependents.observers.events?.eventsChanged()
                }
            } catch  where error is Failure || error is LostTransactions {
                throw error
            } catch {
                session.withLock { $0 = nil }
                dependents.report(
                    PostgresErrors.translated(error) as? MerchantError
                        ?? MerchantError(.storeUnavailable, "\(error)"))
                stopSignal.wait(for: Self.retryInterval)
            }
        }
    }

    /// The minimum difference between the machine's clock and the clock of the database server at the last renewal.
    package var clockDifferenceFromServer: Duration { .milliseconds(clockDifference.load(ordering: .relaxed)) }

    /// Whether this node has a lease now.
    package var isValid: Bool { lease.isValid }

    /// Ends ``run(hasDataKey:)``.
    package func stop() { stopSignal.set() }

    /// Ends the leases. Blocks the calling thread. Do not call this method while ``run(hasDataKey:)`` runs. A call
    /// after `run` has returned has no effect, because `run` has ended the leases.
    package func end() {
        for lease in [lease, dependents.cacheLease, dependents.leaderLease] { lease.setEnd(.now) }
        let last = session.withLock { session in
            defer { session = nil }
            return session
        }
        // Without this, the other daemons would wait for this daemon until its lease ends.
        if let last, !last.connection.isLost { try? rows(last).leave() }
    }
}

extension NodeLease {
    private func rows(_ session: Session) -> NodeRows { NodeRows(connection: session.connection, node: node) }

    private func keep(_ current: Session) { session.withLock { $0 = current } }

    private func connect() throws -> Connection {
        let connection = try opener.open().connection
        // A renewal that takes longer than the lease is of no use, and would delay a shutdown.
        connection.longestResponse = timing.length
        // The table key_changes grows quickly. A generic plan that was made while it was small would read the whole
        // table.
        try connection.run(
            "SELECT set_config('idle_session_timeout', '0', false), set_config('plan_cache_mode', 'force_custom_plan', false)"
        )
        try connection.run("LISTEN \(ChangeNotice.channel)")
        return connection
    }

    private func beginAgain(_ hasDataKey: @escaping DataKeyCheck) throws -> Session {
        let begun = try beginSession(on: try connect(), hasDataKey)
        dependents.report(nil)
        return begun
    }

    /// - Parameter hasDataKey: nil at the start, when the daemon has no data keys yet.
    private func beginSession(on connection: Connection, _ hasDataKey: DataKeyCheck?) throws -> Session {
        let begin = ContinuousClock.now
        try compareAudit(on: connection)
        if let hasDataKey { try waitForDataKey(hasDataKey, on: connection) }
        // `join` stores that this daemon has applied all changes. So the caches must not be used any more when the row
        // in `nodes` is committed.
        dependents.cacheLease.setEnd(.now)
        let rows = NodeRows(connection: connection, node: node)
        guard let last = try rows.join(timing, at: clock.now) else { throw Failure.nameInUse }
        // Empties the caches only after the row is committed. A change that was committed before the row did not wait
        // for this daemon, so no value that was read before the row may stay in a cache.
        for observer in dependents.observers.keys { observer.allKeysChanged() }
        let session = Session(connection: connection, appliedChange: last, nextRenewal: begin + timing.renewal)
        try extendLeases(session, renewedAt: begin)
        // The daemon may have missed the notices of new events.
        dependents.observers.events?.eventsChanged()
        return session
    }

    /// Waits until the daemon has the newest data key. If another daemon has rotated the keys while this one had no
    /// lease, this one must load the new data key first; otherwise it would report private keys as damaged.
    ///
    /// - Throws: ``Failure/keysRotated`` if the daemon still lacks the data key after some time.
    private func waitForDataKey(_ hasDataKey: DataKeyCheck, on connection: Connection) throws {
        let rows = NodeRows(connection: connection, node: node)
        let deadline = ContinuousClock.now + longestLoading
        while let newest = try rows.newestDataKey(), !hasDataKey(newest), !stopSignal.isSet {
            guard ContinuousClock.now < deadline else { throw Failure.keysRotated }
            stopSignal.wait(for: .milliseconds(100))
        }
    }

    private func renew(_ session: inout Session, _ hasDataKey: @escaping DataKeyCheck) throws {
        let begin = ContinuousClock.now
        let before = clock.now
        guard let time = try rows(session).renew(timing) else {
            // The lease ended after ``run(hasDataKey:)`` had checked it, or an operator has removed the row.
            session = try beginSession(on: session.connection, hasDataKey)
            return
        }
        clockDifference.store(Self.difference(of: time, from: before, to: clock.now), ordering: .relaxed)
        try compareAudit(on: session.connection)
        try apply(&session)
        try extendLeases(session, renewedAt: begin)
        session.nextRenewal = begin + timing.renewal
        guard begin >= session.nextRemoval else { return }
        session.nextRemoval = begin + Self.removalInterval
        try removeOld(session)
    }

    /// How far, in milliseconds, the server's time is outside the period from `before` to `after` on this machine's
    /// clock; 0 if it is inside.
    private static func difference(of time: Timestamp, from before: Timestamp, to after: Timestamp) -> Int {
        let time = time.millisecondsSince1970
        return Int(max(before.millisecondsSince1970 - time, time - after.millisecondsSince1970, 0))
    }

    /// Checks that the database contains the last audit record that this daemon has seen. Each record that is visible
    /// is on stable storage, and on a synchronous standby if there is one.
    private func compareAudit(on connection: Connection) throws {
        guard let known = opener.knownAuditHead else { return }
        let last = try LostTransactions.check(known.value, on: connection)
        if let last { known.auditGrew(to: last, inLog: "") }
    }

    /// Removes rows that are not needed any more. A failure must not end the lease.
    private func removeOld(_ session: Session) throws {
        do {
            try KeyChangeLog.removeOld(on: session.connection)
            try rows(session).removeOld()
        } catch {
            if session.connection.isLost { throw error }
        }
    }

    private func extendLeases(_ session: Session, renewedAt begin: ContinuousClock.Instant) throws {
        let end = begin + LeaseTiming.withMargin(timing.length)
        lease.setEnd(end)
        dependents.cacheLease.setEnd(end + LeaseTiming.withMargin(timing.serveStale))
        if try rows(session).takeLeadership() { dependents.leaderLease.setEnd(end) }
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
