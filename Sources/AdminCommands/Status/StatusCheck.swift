import ArgumentParser
import Vocabulary
package import WireAPI

/// The severity of a finding or event, least urgent first.
package enum Severity: String, CaseIterable, Sendable, ExpressibleByArgument {
    case notice, warning, critical
}

/// The result of `status --check`: the line and the exit status for a monitoring system.
///
/// Source: Monitoring Plugins Development Guidelines, "Plugin Return Codes".
package struct StatusCheck: Hashable, Sendable {
    package let line: String
    /// The exit status: 0 OK, 1 warning, 2 critical, 3 unknown.
    package let status: Int32

    package init(_ document: StatusDocument) {
        let severities = document.findings.map { Severity(rawValue: $0.severity) }
        if severities.contains(.critical) {
            status = 2
        } else if severities.contains(nil) {
            // A newer daemon sent a severity that this program does not know.
            status = 3
        } else {
            status = severities.contains(.warning) ? 1 : 0
        }
        let active = ["standby", "current", "retiring"].reduce(0) { $0 + (document.keyPairs[$1] ?? 0) }
        let statusName = ["OK", "WARNING", "CRITICAL", "UNKNOWN"][Int(status)]
        let counts =
            "\(document.merchants.counted("merchant")), \(document.merchantsBelowTarget) below target, \(active.counted("active key pair"))"
        line =
            "merchantkeyd \(statusName): \(counts)\(Self.summary(of: document.findings))".printable(keepingLines: false)
    }

    /// The texts of the first ``maximumNamed`` findings whose severity is not `notice`. If there are none, the text of
    /// the first notice; empty if there is no finding at all.
    private static func summary(of findings: [StatusDocument.Finding]) -> String {
        let urgent = findings.filter { $0.severity != Severity.notice.rawValue }
        let named = urgent.isEmpty ? findings.prefix(1) : urgent.prefix(maximumNamed)
        let more = urgent.count > named.count ? ["more in 'merchantkeyctl status'"] : []
        return (named.map(\.detail) + more).enumerated().map { ($0.offset == 0 ? ": " : "; ") + $0.element }.joined()
    }

    /// How many findings the line names. Monitoring systems truncate long lines.
    private static let maximumNamed = 3
}
