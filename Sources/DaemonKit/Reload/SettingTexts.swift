/// Every setting as text, by name. A list of mappings, such as `callers`, is one setting.
struct SettingTexts: Sendable {
    /// The names in the order of `etc/merchantkeyd.yaml`.
    private(set) var names: [String] = []
    private var texts: [String: String] = [:]

    init(_ settings: [SettingInForce], tables: [String] = SettingsCatalog.standard.tableNames) {
        for setting in settings {
            guard let table = tables.first(where: { setting.name == $0 || setting.name.hasPrefix("\($0).") }) else {
                self[setting.name] = setting.value
                continue
            }
            let entry = setting.name == table ? setting.value : "\(setting.name): \(setting.value)"
            self[table] = [self[table], entry].compactMap(\.self).joined(separator: "\n")
        }
    }

    subscript(name: String) -> String? {
        get { texts[name] }
        set {
            if texts[name] == nil { names.append(name) }
            texts[name] = newValue
        }
    }
}
