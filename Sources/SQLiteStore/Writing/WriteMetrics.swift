import MerchantCore
package import MetricsKit

/// Counts the commits of one database.
final class WriteMetrics: Sendable {
    /// Time from the beginning of a group's transaction until the group is on stable storage.
    let commitDurations = DurationHistogram(bounds: DurationHistogram.storageBounds)
    /// Writes in committed groups.
    private let writes = AtomicCounts(count: 1)
    /// Groups whose commit failed.
    private let failures = AtomicCounts(count: 1)

    func countCommit(of writeCount: Int, after duration: Duration) {
        writes.add(writeCount, at: 0)
        commitDurations.record(duration)
    }

    func countFailure() { failures.add(at: 0) }

    var committedWrites: Int { writes[0] }
    var failedCommits: Int { failures[0] }
}

/// The metrics of the databases.
package struct StoreMetrics: MetricsSource {
    /// One database, and where its metrics are read.
    struct Database: Sendable {
        /// The value of the label `database`.
        let name: String
        let metrics: WriteMetrics
        /// Returns how many writes wait for the next commit.
        let waiting: @Sendable () -> Int
        /// The path of the database's file.
        let path: String
    }

    private let merchants: Database
    private let claims: @Sendable () -> ClaimStore?
    private let actions: LabeledCounter<AuditAction>

    /// - Parameter claims: the claims database; nil while it cannot be opened.
    package init(_ store: SQLiteStore, claims: @escaping @Sendable () -> ClaimStore?) {
        merchants = store.metricsSource
        self.claims = claims
        actions = store.auditedActions
    }

    package func append(to page: inout MetricsText) {
        append(
            "merchantkeyd_store_commit_duration_seconds", .histogram,
            "Time of a commit, until the changes are on stable storage. One commit stores the changes of many requests.",
            to: &page
        ) { MetricsText.samples($0.metrics.commitDurations.snapshot, $1) }
        append(
            "merchantkeyd_store_writes_total", .counter, "Transactions of callers that were committed.", to: &page
        ) { [MetricsText.Sample($1, $0.metrics.committedWrites)] }
        append(
            "merchantkeyd_store_commit_failures_total", .counter, "Commits that failed.", to: &page
        ) { [MetricsText.Sample($1, $0.metrics.failedCommits)] }
        append(
            "merchantkeyd_store_queue_length", .gauge, "Transactions that wait for the next commit.", to: &page
        ) { [MetricsText.Sample($1, $0.waiting())] }
        append(
            "merchantkeyd_store_wal_bytes", .gauge,
            "Length of the file of the write-ahead log. SQLite overwrites the log after each complete checkpoint.",
            to: &page
        ) { [MetricsText.Sample($1, DatabaseFile.logLength(of: $0.path))] }
        append(
            "merchantkeyd_store_checkpoints_total", .counter,
            "Complete checkpoints, after which SQLite began to overwrite the write-ahead log.", to: &page
        ) { database, labels in
            DatabaseFile.logCheckpoints(of: database.path).map { [MetricsText.Sample(labels, $0)] } ?? []
        }
        page.append(
            "merchantkeyd_audited_actions_total", .counter,
            "Actions that the daemon recorded in the audit since it started. The steps of a roll begin with 'roll'.",
            actions.samples("action"))
    }

    private func append(
        _ name: String, _ kind: MetricsText.Kind, _ help: String, to page: inout MetricsText,
        _ samples: (Database, [(name: String, value: String)]) -> [MetricsText.Sample]
    ) {
        let databases = [merchants] + (claims().map { [$0.metricsSource] } ?? [])
        page.append(name, kind, help, databases.flatMap { samples($0, [(name: "database", value: $0.name)]) })
    }
}
