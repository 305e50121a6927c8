import Configuration

/// Reads settings. Each call also declares a setting: its name, format, default and purpose.
///
/// The ``SettingsCatalog`` is created by one reading in which nothing is set. So a type that reads settings must make
/// all its calls before it throws an error, even for settings that it does not need.
final class SettingsReader {
    private let values: ConfigReader
    /// How many entries each list of mappings has.
    private let entries: [String: Int]
    private let records: Records
    /// If this reader reads one entry of a list of mappings: the entry's path, such as `callers.0`, and the list's
    /// name, such as `callers`. Otherwise nil.
    private let entry: (path: String, table: String)?

    /// What the calls have read and declared. The readers of entries share this object with the reader of the file.
    private final class Records {
        var declarations: [SettingDeclaration] = []
        /// Names and values of the settings that are set.
        var explicitlySet: [(name: String, value: String)] = []
    }

    init(_ values: ConfigReader, entries: [String: Int]) {
        self.values = values
        self.entries = entries
        records = Records()
        entry = nil
    }

    private init(_ parent: SettingsReader, path: String, table: String) {
        values = parent.values
        entries = [:]
        records = parent.records
        entry = (path, table)
    }

    var declarations: [SettingDeclaration] { records.declarations }

    /// The settings that the configuration file or environment variables set.
    var explicitlySet: [(name: String, value: String)] { records.explicitlySet }

    /// The name of a setting in errors. For a field of a list of mappings it contains the index: `callers.0.uid`.
    func path(_ name: String) -> String { entry.map { "\($0.path).\(name)" } ?? name }

    /// - Parameter whenUnset: what applies if the setting is not set, as text for the catalog.
    func optional<Value>(
        _ name: String, _ format: SettingFormat<Value>, whenUnset: String, _ summary: String
    ) throws -> Value? {
        declare(name, format, isList: false, whenUnset, summary)
        guard let text = values.string(forKey: ConfigKey(path(name))) else { return nil }
        records.explicitlySet.append((path(name), text))
        guard let value = format.parse(text) else {
            throw SettingsError("'\(path(name))' is '\(text)', \(format.expectation)")
        }
        return value
    }

    /// - Parameter fallback: the default, as it would be written in the file.
    func value<Value>(
        _ name: String, _ format: SettingFormat<Value>, default fallback: String, _ summary: String
    ) throws -> Value {
        if let value = try optional(name, format, whenUnset: fallback, summary) { return value }
        guard let value = format.parse(fallback) else {
            preconditionFailure(
                "the default of '\(name)' does not have the setting's format; a test reads every default")
        }
        return value
    }

    /// - Returns: nil if the list is not set.
    func list<Element>(
        _ name: String, _ format: SettingFormat<Element>, whenUnset: String, _ summary: String
    ) throws -> [Element]? {
        declare(name, format, isList: true, whenUnset, summary)
        guard let texts = values.stringArray(forKey: ConfigKey(path(name))) else { return nil }
        records.explicitlySet.append((path(name), texts.joined(separator: ", ")))
        return try texts.map { text in
            guard let element = format.parse(text) else {
                throw SettingsError("'\(path(name))' has '\(text)', \(format.expectation)")
            }
            return element
        }
    }

    /// Reads a list of mappings. Calls `read` for each entry.
    ///
    /// - Returns: nil if the list is not set.
    func table<Entry>(
        _ name: String, maximum: Int = .max, _ read: (SettingsReader, String) throws -> Entry
    ) throws -> [Entry]? {
        // If there is no entry, reads an empty entry to declare the fields of entries for the catalog. Ignores the
        // error that required fields are missing.
        if entries[name] ?? 0 == 0 { _ = try? read(SettingsReader(self, path: name, table: name), name) }
        guard let count = entries[name] else { return nil }
        guard count <= maximum else {
            throw SettingsError("'\(name)' has \(count) entries, expected at most \(maximum)")
        }
        return try (0..<count).map {
            try read(SettingsReader(self, path: "\(name).\($0)", table: name), "\(name).\($0)")
        }
    }

    private func declare<Value>(
        _ name: String, _ format: SettingFormat<Value>, isList: Bool, _ defaultText: String, _ summary: String
    ) {
        let dottedName = entry.map { "\($0.table).\(name)" } ?? name
        guard !records.declarations.contains(where: { $0.name == dottedName }) else { return }
        records.declarations.append(
            SettingDeclaration(
                name: dottedName, table: entry?.table, isList: isList, expectation: format.expectation,
                defaultText: defaultText, summary: summary, accepts: { format.parse($0) != nil }))
    }
}
