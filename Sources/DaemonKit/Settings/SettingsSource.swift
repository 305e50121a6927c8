/// Where the settings come from. The start reads them there, and every reload reads them there again.
struct SettingsSource: Sendable {
    /// The YAML file; nil: there is none, and the defaults apply.
    let file: String?
    /// The option of the command line; nil: it was not given.
    let stateDirectory: String?
    /// The environment variables. They do not change while the process runs.
    let variables: [String: String]
}
