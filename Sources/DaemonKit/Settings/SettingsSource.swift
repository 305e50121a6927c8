/// Where the settings come from. The start and every reload read the settings from there.
struct SettingsSource: Sendable {
    /// The YAML file; nil: there is none, and only the environment variables change the defaults.
    let file: String?
    /// The option of the command line; nil: it was not given.
    let stateDirectory: String?
    /// The environment variables. They do not change while the process runs.
    let variables: [String: String]
}
