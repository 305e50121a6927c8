import Foundation
import MerchantTestSupport
import Testing

/// The settings `metrics.listen`, `log.format`, `log.requests` and `log.spans`, with a running daemon.
@Suite struct MetricsPortTests {
    private static let hasPromtool = ChildProcess.succeeds("promtool", "--version")

    /// The members of each log line, in a daemon with `log.format: json`.
    private func logLines(_ installation: Installation) -> [[String: String]] {
        installation.log.split(separator: "\n").compactMap {
            try? JSONDecoder().decode([String: String].self, from: Data($0.utf8))
        }
    }

    /// Waits until the port for metrics is open.
    ///
    /// - Returns: its address, from the log.
    private func openAddress(_ installation: Installation) throws -> String {
        var address: String?
        try installation.eventually("the port is open") {
            address = logLines(installation).first { $0["message"] == "metrics listening" }?["address"]
            return address != nil
        }
        return try #require(address)
    }

    private func curl(_ address: String, _ path: String) throws -> String {
        try Installation.run(["curl", "-s", "http://\(address)\(path)"]).output
    }

    private func started(_ more: String = "") throws -> Installation {
        let installation = try Installation()
        let config = try installation.write(
            "environment: sandbox\nmetrics:\n  listen: 0\nlog:\n  format: json\n  requests: true\n\(more)",
            "config.yaml")
        try installation.start(config: config)
        return installation
    }

    @Test(.onlyOnSQLite) func `metrics.listen without a host is a loopback port, with metrics and a probe`()
        throws
    {
        let installation = try started()
        let address = try openAddress(installation)
        #expect(address.hasPrefix("127.0.0.1:"))
        #expect(try curl(address, "/health") == "ready\n")
        let page = try PrometheusPage(curl(address, "/metrics"))
        #expect(page["merchantkeyd_database_readable"] == 1)
        #expect(page["merchantkeyd_store_wal_bytes", ["database": "claims"]] != nil)
        #expect(page["merchantkeyd_token_claims_total", ["result": "claimed"]] == 0)
        #expect(page["merchantkeyd_apple_calls_total", ["operation": "getDetails", "outcome": "success"]] == 0)
        #expect(page["merchantkeyd_audited_actions_total", ["action": "daemonStarted"]] == 1)
        #expect(installation.stop() == 0)
    }

    @Test(.onlyOnSQLite, .enabled(if: hasPromtool, "needs promtool"))
    func `promtool finds nothing wrong with the page of a running daemon`() throws {
        let installation = try started()
        let merchant = "merchant.com.example.shop"
        #expect(try installation.ctl("merchant", "add", merchant).status == 0)
        #expect(try installation.ctl("key", "generate", merchant).status == 0)
        for _ in 0..<3 { _ = try installation.curl(installation.decryptorSocket, "/v1/keys/none") }
        let page = try curl(openAddress(installation), "/metrics")
        let check = try ChildProcess.run(["promtool", "check", "metrics"], input: Array(page.utf8))
        #expect(check.status == 0, "\(check.output)\(check.error)")
        #expect(try PrometheusPage(page)["merchantkeyd_store_writes_total", ["database": "merchants"]] ?? 0 > 0)
    }

    @Test func `alerts and panels select each metric of the page only by labels that the metric has`() throws {
        let installation = try started()
        let page = try PrometheusPage(curl(openAddress(installation), "/metrics"))
        let labels = Dictionary(grouping: page.values.keys, by: \.name)
            .mapValues { $0.reduce(into: Set<String>()) { $0.formUnion($1.labels.keys) } }
        // Prometheus adds `instance` and `job`. The buckets of a histogram have `le`.
        let added: Set = ["instance", "job", "le"]
        var checked = 0
        for file in ["etc/alerts/merchantkeyd.rules.yml", "etc/grafana/merchantkeyd.json"] {
            let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().deletingLastPathComponent()
            let text = try String(contentsOf: root.appending(path: file), encoding: .utf8)
                .replacingOccurrences(of: "\\\"", with: "\"")
            for match in text.matches(of: #/(merchantkeyd_[a-z_]+)\{([^}]*)\}/#) {
                guard let own = labels[String(match.1)] else { continue }
                let used = match.2.matches(of: #/([a-z]+)(?:=|!=|=~|!~)"/#).map { String($0.1) }
                #expect(Set(used).subtracting(added).isSubset(of: own), "\(file): \(match.0)")
                checked += 1
            }
        }
        #expect(checked > 20)
    }

    @Test func `with log.requests each response is one line, with the template of its path`() throws {
        let installation = try started()
        let hash = String(repeating: "A", count: 43)
        _ = try installation.curl(installation.decryptorSocket, "/v1/keys/\(hash)", "-H", "X-Request-Id: pay-7")
        _ = try installation.curl(installation.adminSocket, "/v1/merchants/merchant.com.example.gone")
        _ = try curl(openAddress(installation), "/health")
        func line(_ server: String, _ route: String) -> [String: String]? {
            logLines(installation).first {
                $0["message"] == "request" && $0["server"] == server && $0["route"] == route
            }
        }
        try installation.eventually("the lines are written") {
            line("decryptor", "GET /v1/keys/{publicKeyHash}") != nil && line("metrics", "GET /health") != nil
                && line("admin", "GET /v1/merchants/{merchantIdentifier}") != nil
        }
        let decryptor = try #require(line("decryptor", "GET /v1/keys/{publicKeyHash}"))
        #expect(decryptor["status"] == "404" && decryptor["requestId"] == "pay-7" && decryptor["uid"] == "\(getuid())")
        #expect(Int(decryptor["durationMicroseconds"] ?? "") != nil && decryptor["level"] == "info")
        #expect(!installation.log.contains(hash) && !installation.log.contains("merchant.com.example.gone"))
    }

    @Test func `with log.spans a request's span is in the log, with the identifiers that the response has`() throws {
        let installation = try Installation()
        let config = try installation.write("log:\n  format: json\n  spans: true\n", "config.yaml")
        try installation.start(config: config)
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        let response = try installation.curlBody(
            installation.adminSocket, "/v1/merchants", "-i", "-H", "traceparent: 00-\(trace)-00f067aa0ba902b7-01"
        ).output
        let spanId = try #require(
            response.firstMatch(of: #/(?i)traceparent: 00-[0-9a-f]{32}-([0-9a-f]{16})-01/#).map { String($0.1) })
        func span() -> [String: String]? {
            logLines(installation).first { $0["message"] == "span" && $0["traceId"] == trace }
        }
        try installation.eventually("the span is written") { span() != nil }
        let line = try #require(span())
        #expect(line["name"] == "GET /v1/merchants" && line["kind"] == "server")
        #expect(line["spanId"] == spanId && line["parentSpanId"] == "00f067aa0ba902b7")
    }

    @Test func `a second daemon is refused because of the state directory, not because of a port`() throws {
        let first = try started()
        let config = try first.write("metrics:\n  listen: \(try openAddress(first))\n", "second.yaml")
        let outcome = try first.failedStart("--state-directory", first.stateDirectory, "--config", config)
        #expect(outcome.status == 1 && outcome.error.contains("merchantkeyd.lock"), "\(outcome.error)")
        #expect(!outcome.error.contains("'metrics.listen'"), "\(outcome.error)")
    }

    @Test func `an address in use makes the start fail, and the error names the setting`() throws {
        let first = try started()
        let second = try Installation()
        try second.createStateDirectory()
        let config = try second.write("metrics:\n  listen: \(try openAddress(first))\n", "config.yaml")
        let outcome = try second.failedStart("--state-directory", second.stateDirectory, "--config", config)
        #expect(outcome.status == 1 && outcome.error.contains("'metrics.listen'"), "\(outcome.error)")
    }
}
