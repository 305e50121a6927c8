import MerchantOperations
import Synchronization

/// What the daemon's services found out about itself and its machine, one finding a kind.
final class ConditionLog: Sendable {
    private let findings = Mutex<[StatusFinding.Code: StatusFinding]>([:])

    /// In an order that stays, so that one question after the other tells of the same one first.
    var all: [StatusFinding] { findings.withLock { $0.values.sorted { $0.code.rawValue < $1.code.rawValue } } }

    func set(_ code: StatusFinding.Code, _ severity: StatusFinding.Severity, _ detail: String) {
        findings.withLock { $0[code] = StatusFinding(severity: severity, code: code, detail: detail) }
    }

    /// Nil where there is no such finding.
    func severity(of code: StatusFinding.Code) -> StatusFinding.Severity? {
        findings.withLock { $0[code]?.severity }
    }

    func clear(_ code: StatusFinding.Code) { findings.withLock { $0[code] = nil } }
}
