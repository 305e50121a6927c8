import Vocabulary
package import WireAPI

/// How grave a finding is, mildest first.
package enum Severity: String, CaseIterable, Sendable {
    case notice, warning, critical
}

/// The one line and the number that monitoring asks for.
///
/// Source: Monitoring Plugins Development Guidelines, "Plugin Return Codes".
package struct StatusCheck: Hashable, Sendable {
    package let line: String
    /// 0 fine, 1 warning, 2 critical, 3 unknown.
    package let status: Int32

    package init(_ document: StatusDocument) {
        let severities = document.findings.map { Severity(rawValue: $0.severity) }
        if severities.contains(.critical) {
            status = 2
        } else if severities.contains(nil) {
            // A daemon newer than this program: better asked about than called fine.
            status = 3
        } else {
            status = severities.contains(.warning) ? 1 : 0
        }
        let active = ["standby", "current", "retiring"].reduce(0) { $0 + (document.keyPairs[$1] ?? 0) }
        let word = ["OK", "WARNING", "CRITICAL", "UNKNOWN"][Int(status)]
        let worst = document.findings.first.map { ": \($0.detail)" } ?? ""
        line =
            "merchantkeyd \(word): \(document.merchants) merchants, \(active) active key pairs, "
            + "\(document.findings.count) findings\(worst)".printable(keepingLines: false)
    }
}
