package import MetricsKit

/// The metrics of the store and of the claims in a PostgreSQL database. The metrics of SQLite's files do not exist
/// here.
package struct PostgresMetrics: MetricsSource {
    private let store: PostgresStore
    private let claims: PostgresClaims

    package init(_ store: PostgresStore, claims: PostgresClaims) { (self.store, self.claims) = (store, claims) }

    package func append(to page: inout MetricsText) {
        page.append(
            "merchantkeyd_store_queue_length", .gauge, "Transactions that wait for the next commit.",
            [("merchants", store.waitingWrites), ("claims", claims.waitingClaims)].map { name, count in
                MetricsText.Sample([(name: "database", value: name)], count)
            })
        page.append(
            "merchantkeyd_audited_actions_total", .counter,
            "Actions that the daemon recorded in the audit since it started. The steps of a roll begin with 'roll'.",
            store.auditedActions.samples("action"))
    }
}
