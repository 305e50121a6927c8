import Foundation
import MerchantTestSupport
import Testing
import Yams

/// The alerts in etc/alerts and the dashboard in etc/grafana, compared with the code and with docs/operate.md.
@Suite struct MonitoringFilesTests {
    private static let rulesPath = "etc/alerts/merchantkeyd.rules.yml"
    private static let dashboardPath = "etc/grafana/merchantkeyd.json"
    private static let hasPromtool = ShellRun.isInstalled("promtool")

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: MarkdownDocument.root.appending(path: path), encoding: .utf8)
    }

    /// The names of all metrics in the sources, each with its type.
    private static func definedMetrics() throws -> [String: String] {
        let sources = MarkdownDocument.root.appending(path: "Sources")
        var metrics: [String: String] = [:]
        let definition = #/"((?:merchantkeyd|process)_[a-z_]+)",\s*(?:\.(counter|gauge|histogram))?/#
        for path in try FileManager.default.subpathsOfDirectory(atPath: sources.path) where path.hasSuffix(".swift") {
            let text = try String(contentsOf: sources.appending(path: path), encoding: .utf8)
            for match in text.matches(of: definition) {
                metrics[String(match.1)] = match.2.map { String($0) } ?? "gauge"
            }
        }
        return metrics
    }

    /// The names of the metrics in a query, without the suffixes of a histogram's series.
    private static func metrics(in query: String, _ defined: [String: String]) -> [String] {
        query.matches(of: #/\b(?:merchantkeyd|process)_[a-z_]+/#).map { match in
            let name = String(match.0)
            for suffix in ["_bucket", "_sum", "_count"] where name.hasSuffix(suffix) {
                let base = String(name.dropLast(suffix.count))
                if defined[base] == "histogram" { return base }
            }
            return name
        }
    }

    private struct Alert {
        let name: String
        let query: String
        let severity: String
    }

    private static func alerts() throws -> [Alert] {
        let rules = try #require(try Yams.compose(yaml: text(rulesPath)))
        return try #require(rules["groups"]?.sequence).flatMap { group in
            try #require(group["rules"]?.sequence).map { rule in
                Alert(
                    name: try #require(rule["alert"]?.string), query: try #require(rule["expr"]?.string),
                    severity: try #require(rule["labels"]?["severity"]?.string))
            }
        }
    }

    private struct Dashboard: Decodable {
        let panels: [Panel]
    }

    private struct Panel: Decodable {
        struct Place: Decodable { let x, y, w, h: Int }
        struct Target: Decodable { let expr: String }

        let id: Int
        let title: String
        let type: String
        let gridPos: Place
        /// The queries; nil for a panel of the type `row`, which is the heading of the panels below it.
        let targets: [Target]?
    }

    private static func panels() throws -> [Panel] {
        try JSONDecoder().decode(Dashboard.self, from: Data(text(dashboardPath).utf8)).panels
    }

    private static func queries() throws -> [String] { try panels().flatMap { $0.targets ?? [] }.map(\.expr) }

    @Test func `operate.md lists every metric of the code with its type`() throws {
        let defined = try Self.definedMetrics()
        #expect(defined.count > 40)
        var documented: [String: String] = [:]
        for row in try MarkdownDocument("docs/operate.md").rows(under: "metric") {
            #expect(row.count == 3 && row.allSatisfy { !$0.isEmpty }, "\(row)")
            for name in MarkdownDocument.quoted(row[0]) {
                documented[String(name.prefix { $0 != "{" })] = row[1]
            }
        }
        #expect(documented == defined)
    }

    @Test func `operate.md lists every alert with its severity, its meaning and what to do`() throws {
        let alerts = try Self.alerts()
        let rows = try MarkdownDocument("docs/operate.md").rows(under: "alert")
        #expect(rows.map { MarkdownDocument.quoted($0[0])[0] }.sorted() == alerts.map(\.name).sorted())
        for row in rows {
            #expect(row.count == 4 && row.allSatisfy { !$0.isEmpty }, "\(row)")
            #expect(alerts.first { row[0].contains("`\($0.name)`") }?.severity == row[1], "\(row[0])")
        }
    }

    @Test func `every query of the alerts and of the dashboard is about metrics that the code has`() throws {
        let defined = try Self.definedMetrics()
        for query in try Self.alerts().map(\.query) + Self.queries() {
            let names = Self.metrics(in: query, defined)
            #expect(!names.isEmpty || query.contains("up{"), "\(query)")
            for name in names { #expect(defined[name] != nil, "\(name) in \(query)") }
        }
    }

    @Test func `every panel of the dashboard has a place of its own, and a query unless it is a heading`() throws {
        let panels = try Self.panels()
        #expect(panels.count > 20 && Set(panels.map(\.id)).count == panels.count)
        var taken: Set<[Int]> = []
        for panel in panels {
            #expect((panel.type == "row") == (panel.targets ?? []).isEmpty, "\(panel.title)")
            let place = panel.gridPos
            #expect(place.x + place.w <= 24, "\(panel.title)")
            for column in place.x..<(place.x + place.w) {
                for line in place.y..<(place.y + place.h) {
                    #expect(taken.insert([column, line]).inserted, "\(panel.title)")
                }
            }
        }
    }

    @Test(.enabled(if: hasPromtool, "needs promtool"))
    func `promtool accepts the alerts, and their tests pass`() throws {
        for arguments in [
            ["check", "rules", Self.rulesPath], ["test", "rules", "etc/alerts/tests/merchantkeyd_test.yml"],
        ] {
            let outcome = try ChildProcess.run(["promtool"] + arguments, directory: MarkdownDocument.root.path)
            #expect(outcome.status == 0, "\(outcome.output)\(outcome.error)")
        }
    }

    @Test func `every alert has a test in which it fires, and one in which it does not`() throws {
        let tests = try #require(try Yams.compose(yaml: Self.text("etc/alerts/tests/merchantkeyd_test.yml")))
        let cases = try #require(tests["tests"]?.sequence).flatMap { Array($0["alert_rule_test"]?.sequence ?? []) }
        let firing = Set(cases.filter { $0["exp_alerts"] != nil }.compactMap { $0["alertname"]?.string })
        let silent = Set(cases.filter { $0["exp_alerts"] == nil }.compactMap { $0["alertname"]?.string })
        let names = Set(try Self.alerts().map(\.name))
        #expect(firing == names && silent.isSuperset(of: names))
    }

    /// Prometheus also reads the dashboard's queries; promtool checks their syntax as rules.
    @Test(.enabled(if: hasPromtool, "needs promtool"))
    func `promtool accepts every query of the dashboard`() throws {
        let rules = try Self.queries().enumerated().map { number, query in
            let query = query.replacingOccurrences(of: "$__rate_interval", with: "5m")
            return "      - record: query\(number)\n        expr: |-\n          \(query)\n"
        }
        let file = FileManager.default.temporaryDirectory.appending(path: "queries-\(UUID().uuidString).yml")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("groups:\n  - name: dashboard\n    rules:\n\(rules.joined())".utf8).write(to: file)
        let outcome = try ChildProcess.run(["promtool", "check", "rules", file.path])
        #expect(outcome.status == 0, "\(outcome.output)\(outcome.error)")
    }
}
