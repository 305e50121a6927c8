import Vocabulary
import WireAPI

extension Cell {
    /// `2026-11-21 04:53`, UTC, for a time as the daemon writes it.
    package init(time: String?) {
        guard let time, let moment = Timestamp(rfc3339: time) else {
            self.init(time)
            return
        }
        let text = moment.rfc3339
        self.init("\(text.prefix(10)) \(text.dropFirst(11).prefix(5))")
    }

    init(state: String) {
        let tone: Tone =
            switch KeyState(rawValue: state) {
            case .current: .good
            case .standby, .retiring: .notice
            case .pending: .plain
            case .revoked: .warning
            case .destroyed: .critical
            case nil: .plain
            }
        self.init(state, tone)
    }

    init(outcome: String) {
        let tone: Tone =
            switch outcome {
            case "passed": .good
            case "failed": .critical
            default: .notice
            }
        self.init(outcome, tone)
    }

    init(severity: String) {
        let tone: Tone =
            switch Severity(rawValue: severity) {
            case .notice: .notice
            case .warning: .warning
            case .critical: .critical
            case nil: .plain
            }
        self.init(severity, tone)
    }
}
