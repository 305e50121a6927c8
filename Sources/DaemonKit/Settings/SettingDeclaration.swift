/// One setting, as ``SettingsReader`` noted it when the setting was read.
package struct SettingDeclaration: Sendable {
    /// Dotted, such as `log.level`; the field of a list of mappings without the index: `callers.uid`.
    package let name: String
    /// The list of mappings that the setting is a field of.
    package let table: String?
    package let isList: Bool
    /// What a value must be, such as "expected true or false".
    package let expectation: String
    /// The default; a description if it is not a fixed value.
    package let defaultText: String
    package let summary: String
    /// Whether a text is a valid value, or a valid element of a list.
    package let accepts: @Sendable (String) -> Bool

    /// The environment variable that wins over the file; nil for a field of a list of mappings, which only the file can hold.
    package var environmentName: String? {
        guard table == nil else { return nil }
        return "MERCHANTKEYD_" + name.uppercased().replacing(".", with: "_").replacing("-", with: "_")
    }
}

/// Every setting there is. It follows from the code that reads them: ``Settings/init(reading:stateDirectory:environment:)``.
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

    /// - Parameter name: as in the file, flattened: `log.level`, `callers.0.uid`.
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
