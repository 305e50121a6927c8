package import Vocabulary
import WireAPI

extension Cell {
    /// Creates a cell with the text of a value, such as an identifier or a state; `-` if the value is nil.
    init(_ value: (some TextValue)?) { self.init(value?.text) }

    init(_ count: Int, _ tone: Tone = .plain) { self.init("\(count)", tone) }

    /// A time in UTC without seconds, such as `2026-11-21 04:53`; `-` if the time is nil.
    package init(time: Timestamp?) {
        guard let text = time?.rfc3339 else {
            self.init(nil as String?)
            return
        }
        self.init("\(text.prefix(10)) \(text.dropFirst(11).prefix(5))")
    }

    init(state: KeyState) {
        let tone: Tone =
            switch state {
            case .current: .good
            case .standby, .retiring: .notice
            case .pending: .plain
            case .revoked: .warning
            case .destroyed: .critical
            }
        self.init(state.rawValue, tone)
    }

    /// The outcome of a check of a token or a certificate: `passed`, `failed` or `notChecked`.
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

    /// `yes` if a requirement is fulfilled, otherwise `no` in the colour of a warning.
    init(isFulfilled: Bool) { self.init(isFulfilled ? "yes" : "no", isFulfilled ? .plain : .warning) }
}
