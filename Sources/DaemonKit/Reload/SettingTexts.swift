/// Every setting as text, by name. A list of mappings, such as `callers`, is one setting with several entries.
struct SettingTexts: Sendable {
    /// A value as `config check` prints it.
    struct Entry: Hashable, Sendable {
        /// The name of the setting. In a list of mappings, it contains the index: `callers.0.uid`.
        let name: String
        let value: String
    }

    /// The names in the order in which ``Settings`` reads them.
    private(set) var names: [String] = []
    private var entries: [String: [Entry]] = [:]

    init(_ settings: [SettingInForce], tables: [String] = SettingsCatalog.standard.tableNames) {
        for setting in settings {
            let table = tables.first { setting.name == $0 || setting.name.hasPrefix("\($0).") }
            let name = table ?? setting.name
            self[name] = (self[name] ?? []) + [Entry(name: setting.name, value: setting.value)]
        }
    }

    subscript(name: String) -> [Entry]? {
        get { entries[name] }
        set {
            if entries[name] == nil { names.append(name) }
            entries[name] = newValue
        }
    }
}
