import MerchantOperations
import Synchronization

/// What the daemon's services found out about itself and its machine, one finding a kind.
final class ConditionBoard: Sendable {
    private let findings = Mutex<[StatusFinding.Code: StatusFinding]>([:])

    var all: [StatusFinding] { findings.withLock { Array($0.values) } }

    func set(_ code: StatusFinding.Code, _ severity: StatusFinding.Severity, _ detail: String) {
        findings.withLock { $0[code] = StatusFinding(severity: severity, code: code, detail: detail) }
    }

    func clear(_ code: StatusFinding.Code) { findings.withLock { $0[code] = nil } }
}
