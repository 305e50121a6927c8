import MerchantOperations
import Synchronization

/// The problems that the daemon's services have found and that still exist, at most one for each code. `status` and the
/// health route report them.
final class ActiveFindings: Sendable {
    private let findings = Mutex<[StatusFinding.Code: StatusFinding]>([:])

    /// In a stable order, so that repeated requests list the same finding first.
    var all: [StatusFinding] { findings.withLock { $0.values.sorted { $0.code.rawValue < $1.code.rawValue } } }

    func set(_ code: StatusFinding.Code, _ severity: StatusFinding.Severity, _ detail: String) {
        findings.withLock { $0[code] = StatusFinding(severity: severity, code: code, detail: detail) }
    }

    /// The severity of the finding with this code; nil if there is none.
    func severity(of code: StatusFinding.Code) -> StatusFinding.Severity? {
        findings.withLock { $0[code]?.severity }
    }

    func clear(_ code: StatusFinding.Code) { findings.withLock { $0[code] = nil } }
}
