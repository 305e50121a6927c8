/// The environment variables whose names begin with `MERCHANTKEYD_`.
///
/// Each of them, except ``ofOtherPrograms``, must be the variable of a setting. A variable that the daemon ignored,
/// such as one with a misspelt name, could make an operator believe that a setting has an effect.
enum EnvironmentNames {
    static let prefix = "MERCHANTKEYD_"

    /// Variables that other programs read. The daemon ignores them: `merchantkeyctl` reads the path of the admin socket
    /// from `MERCHANTKEYD_SOCKET`.
    static let ofOtherPrograms: Set<String> = ["MERCHANTKEYD_SOCKET"]

    /// - Returns: what is wrong with the names, in alphabetical order of the names.
    static func problems(_ names: some Collection<String>, _ catalog: SettingsCatalog) -> [String] {
        let known = Set(catalog.declarations.compactMap(\.environmentName)).union(ofOtherPrograms)
        return names.filter { $0.hasPrefix(prefix) && !known.contains($0) }.sorted().map { name in
            guard let table = catalog.tableNames.first(where: { isName(name, of: $0) }) else {
                return
                    "the environment variable \(name) names no setting; correct the name or remove the variable (docs/settings.md and 'man merchantkeyd.yaml' list every setting)"
            }
            return
                "the environment variable \(name) is set, but only the configuration file can set '\(table)'; remove the variable, and write '\(table)' into the file that --config names"
        }
    }

    /// Whether a variable's name is that of a list of mappings or of one of its fields: `MERCHANTKEYD_CALLERS`,
    /// `MERCHANTKEYD_CALLERS_0_UID`.
    private static func isName(_ name: String, of table: String) -> Bool {
        let tableName = SettingDeclaration.environmentName(of: table)
        return name == tableName || name.hasPrefix("\(tableName)_")
    }
}
