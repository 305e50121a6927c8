package import MerchantCore
package import Vocabulary

/// Records the start of the daemon: its version, the permits of callers, and whether an older database was put in
/// place.
///
/// A fact is a text that the daemon stores under a name.
package struct StartOperations: Sendable {
    package typealias Records = Transactions<
        any DaemonStateReading, any WaitingTimesAfterRestore.Writer & DaemonStateWriting & ChangeRecording
    >

    /// The name of the fact in which a restore describes itself. The next start records it in the audit and empties the
    /// fact.
    package static let restoredFact = "restoredFrom"
    /// The name of the fact that says in one sentence what the last restore undid.
    package static let undoneFact = "restoreUndid"
    /// The name of the fact with the time at which an older database was last accepted.
    package static let olderSinceFact = "olderDatabaseSince"

    private let records: Records
    private let clock: any WallClock

    package init(records: Records, clock: any WallClock) {
        self.records = records
        self.clock = clock
    }

    package var now: Timestamp { clock.now }

    /// The description that a restore left for this start; empty if the audit records every restore already.
    package func restored() async throws -> String {
        try await records.read { try $0.daemonFact(Self.restoredFact) } ?? ""
    }

    /// Empties the description of the restore. Called when the audit has recorded the restore.
    package func forgetRestore() async throws {
        try await records.write { try $0.setDaemonFact(Self.restoredFact, "") }
    }

    /// When an older database was last accepted, and what the last restore undid; nil if that never happened.
    package func olderDatabase() async throws -> (since: Timestamp, undone: String)? {
        try await records.read { reading in
            guard let since = try reading.daemonFact(Self.olderSinceFact).flatMap({ Timestamp(rfc3339: $0) }) else {
                return nil
            }
            return (since, try reading.daemonFact(Self.undoneFact) ?? "")
        }
    }

    /// Restarts the waiting times in the database. Called when an older database was put in place.
    package func restartWaitingTimes() async throws {
        let now = clock.now
        try await records.write { try WaitingTimesAfterRestore.restart(at: now, in: $0) }
    }

    /// Whether the permits in `policy` are those that were recorded last. If not,
    /// ``recordStart(as:version:policy:history:)`` must record them before they take effect.
    package func knowsPermits(_ policy: CallerPolicy) async throws -> Bool {
        try await records.read { try $0.daemonFact("permits") } == policy.summary
    }

    /// Records the start of the daemon, and the permits of callers if they have changed.
    ///
    /// - Parameter history: the audit records about an older database that was put in place; empty if there was none.
    package func recordStart(
        as caller: Caller, version: String, policy: CallerPolicy,
        history: [(action: AuditAction, reason: String)] = []
    ) async throws {
        let now = clock.now
        let request = Request(caller: caller, requestId: "start")
        try await records.write { transaction in
            try transaction.append(request.entry(.daemonStarted, at: now, after: version))
            for (action, reason) in history {
                try transaction.append(request.entry(action, at: now, reason: reason))
                try transaction.setDaemonFact(Self.olderSinceFact, now.rfc3339)
                // The sentence in this fact is about an earlier restore.
                if action != .databaseRestored { try transaction.setDaemonFact(Self.undoneFact, "") }
            }
            let permits = policy.summary
            let before = try transaction.daemonFact("permits")
            guard before != permits else { return }
            try transaction.setDaemonFact("permits", permits)
            try transaction.append(request.entry(.permitsChanged, at: now, before: before, after: permits))
        }
    }
}

extension CallerPolicy {
    /// The policy as one line. Equal policies have equal lines.
    fileprivate var summary: String {
        rules.map { rule in
            let subject =
                switch rule.subject {
                case .uid(let uid): "uid=\(uid)"
                case .gid(let gid): "gid=\(gid)"
                }
            let permits = rule.grant.permits.map(\.rawValue).sorted().joined(separator: ",")
            let merchants = rule.grant.merchants.map { $0.map(\.rawValue).sorted().joined(separator: ",") } ?? "*"
            return "\(subject) permits=\(permits) merchants=\(merchants)"
        }.joined(separator: "; ")
    }
}
