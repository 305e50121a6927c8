import MerchantCore
package import MerchantOperations
package import MetricsKit
package import Vocabulary

/// Writes the page of metrics, in Prometheus' text format, for every server that offers it.
package struct MetricsReport: Sendable {
    private let monitoring: Monitoring
    private let masterKey: MasterKeyOperations
    private let sources: [any MetricsSource]
    private let version: String

    /// - Parameter sources: the parts of the daemon that count in memory, in the order of the page.
    package init(
        monitoring: Monitoring, masterKey: MasterKeyOperations, sources: [any MetricsSource], version: String,
        startedAt: Timestamp
    ) {
        self.monitoring = monitoring
        self.masterKey = masterKey
        self.sources =
            sources
            + [ProcessMetrics(startTimeSeconds: Int(startedAt.millisecondsSince1970 / 1000)) as any MetricsSource]
        self.version = version
    }

    /// The page with the present values.
    ///
    /// If the database cannot be read, the page lacks the metrics of ``StateMetrics``, and
    /// `merchantkeyd_database_readable` has the value 0. The page always contains the other metrics, because they are
    /// needed most while the storage fails.
    package func text() async -> String {
        var page = MetricsText()
        page.append(
            "merchantkeyd_build_info", .gauge, "The daemon's version.", [.init([("version", version)], 1)])
        let state = try? await readState()
        page.append(
            gauge: "merchantkeyd_database_readable", "1 if the daemon can read its database, otherwise 0.",
            state == nil ? 0 : 1)
        state?.append(to: &page)
        for source in sources { source.append(to: &page) }
        return page.text
    }

    private func readState() async throws -> StateMetrics {
        StateMetrics(
            status: try await monitoring.status(), soonestExpiry: try await monitoring.soonestExpiry(),
            rotation: try await masterKey.masterKeyStatus().rotation)
    }
}
