/// The form of a log line: the setting `log.format`.
package enum LogFormat: String, Sendable, CaseIterable {
    /// `name=value` pairs.
    case logfmt
    /// One JSON object.
    case json

    var form: any LogForm {
        switch self {
        case .logfmt: LogfmtForm()
        case .json: JSONLogForm()
        }
    }
}
