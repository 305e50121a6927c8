/// The description of one setting. ``SettingsReader`` creates a description for each setting that it reads.
package struct SettingDeclaration: Sendable {
    /// The dotted name, such as `log.level`. The name of a field in a list of mappings has no index: `callers.uid`.
    package let name: String
    /// The list of mappings that has this setting as a field; nil for any other setting.
    package let table: String?
    package let isList: Bool
    /// What a value must be, such as "expected true or false".
    package let expectation: String
    /// The default value, or a description if there is no fixed default.
    package let defaultText: String
    package let summary: String
    /// Whether a text is a valid value, or a valid element of a list.
    package let accepts: @Sendable (String) -> Bool

    /// Whether a reload applies a changed value. If not, only a restart applies it.
    package var isReloadable: Bool { ReloadableSettings.names.contains(table ?? name) }

    /// The environment variable that overrides the file. Nil for a field of a list of mappings, which only the file can
    /// set.
    package var environmentName: String? { table == nil ? Self.environmentName(of: name) : nil }

    /// The name of a setting as an environment variable: `MERCHANTKEYD_LOG_LEVEL` for `log.level`.
    static func environmentName(of name: String) -> String {
        EnvironmentNames.prefix + name.uppercased().replacing(".", with: "_").replacing("-", with: "_")
    }
}

/// All settings. The code that reads them also declares them: ``Settings/init(reading:from:)``.
package struct SettingsCatalog: Sendable {
    package static let standard = SettingsCatalog(declarations: Settings.declarations())

    package let declarations: [SettingDeclaration]
    private let byName: [String: SettingDeclaration]
    private let tables: Set<String>

    init(declarations: [SettingDeclaration]) {
        self.declarations = declarations
        byName = Dictionary(declarations.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        tables = Set(declarations.compactMap(\.table))
    }

    /// Whether the setting is a list of mappings, such as `callers`.
    func isTable(_ name: String) -> Bool { tables.contains(name) }

    /// The names of the lists of mappings.
    package var tableNames: [String] { tables.sorted() }

    /// A setting of the group `name`, such as `log.level` for `log`; nil if there is no such group.
    func exampleOfGroup(_ name: String) -> String? {
        declarations.first { $0.table == nil && $0.name.hasPrefix("\(name).") }?.name
    }

    /// - Parameter name: the dotted name, with the index of an entry in a list: `log.level`, `callers.0.uid`.
    package subscript(name: String) -> SettingDeclaration? {
        if let declaration = byName[name], declaration.table == nil { return declaration }
        for table in tables where name.hasPrefix("\(table).") {
            let parts = name.dropFirst(table.count + 1).split(separator: ".", maxSplits: 1)
            guard parts.count == 2, Int(parts[0]) != nil else { continue }
            return byName["\(table).\(parts[1])"]
        }
        return nil
    }
}
