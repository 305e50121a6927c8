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
        let numbers =
            "\(document.merchants) merchants, \(document.merchantsBelowTarget) below target, \(active) active key pairs"
        line =
            "merchantkeyd \(word): \(numbers)\(Self.words(document.findings))".printable(keepingLines: false)
    }

    /// The most urgent findings; notices only where there is nothing else.
    private static func words(_ findings: [StatusDocument.Finding]) -> String {
        let urgent = findings.filter { $0.severity != Severity.notice.rawValue }
        let named = urgent.isEmpty ? findings.prefix(1) : urgent.prefix(mostNamed)
        let more = urgent.count > named.count ? ["more in 'merchantkeyctl status'"] : []
        return (named.map(\.detail) + more).enumerated().map { ($0.offset == 0 ? ": " : "; ") + $0.element }.joined()
    }

    /// Monitoring systems cut long lines.
    private static let mostNamed = 3
}
