/// A setting with the value that the daemon uses, as `config check` prints it.
package struct SettingInForce: Hashable, Sendable {
    /// Where a value comes from.
    package enum Origin: String, Sendable {
        case file
        case environment
        case commandLine
        /// The setting is not set.
        case standard = "default"
    }

    /// The value of a setting that is not set and has no default.
    static let noValue = "-"

    /// The dotted name, with the index of an entry in a list of mappings: `log.level`, `callers.0.uid`.
    package let name: String
    /// The value as it is written in the file, such as `12h`. If the setting is not set and has no fixed default, a
    /// description of what applies.
    package internal(set) var value: String
    package internal(set) var origin: Origin
}
