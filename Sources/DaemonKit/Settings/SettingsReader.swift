import Configuration

/// Reads settings. Each call also declares a setting: its name, format, default and purpose.
///
/// ``SettingsCatalog`` contains the declarations of one run in which nothing is set. So a type that reads settings must
/// make all its calls before it throws, even for settings that it does not need.
final class SettingsReader {
    private let values: ConfigReader
    /// How many entries each list of mappings has.
    private let entries: [String: Int]
    private let notes: Notes
    /// In a reader of one entry of a list of mappings: the entry's path, such as `callers.0`, and the list's name, such
    /// as `callers`. Nil in any other reader.
    private let place: (path: String, table: String)?

    /// What the calls have read and declared. Readers of entries share it with the reader of the file.
    private final class Notes {
        var declarations: [SettingDeclaration] = []
        /// Names and values of the settings that are set.
        var given: [(name: String, value: String)] = []
    }

    init(_ values: ConfigReader, entries: [String: Int]) {
        self.values = values
        self.entries = entries
        notes = Notes()
        place = nil
    }

    private init(_ parent: SettingsReader, path: String, table: String) {
        values = parent.values
        entries = [:]
        notes = parent.notes
        place = (path, table)
    }

    var declarations: [SettingDeclaration] { notes.declarations }

    /// The settings that the file or the environment sets.
    var given: [(name: String, value: String)] { notes.given }

    /// The name of a setting in errors. For a field of a list of mappings it contains the index: `callers.0.uid`.
    func path(_ name: String) -> String { place.map { "\($0.path).\(name)" } ?? name }

    /// - Parameter whenUnset: what applies if the setting is not set. Used only in the catalog.
    func optional<Value>(
        _ name: String, _ format: SettingFormat<Value>, whenUnset: String, _ summary: String
    ) throws -> Value? {
        declare(name, format, isList: false, whenUnset, summary)
        guard let text = values.string(forKey: ConfigKey(path(name))) else { return nil }
        notes.given.append((path(name), text))
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
            preconditionFailure("the default of '\(name)' is not of its own format; a test reads every default")
        }
        return value
    }

    /// - Returns: nil if the list is not set.
    func list<Element>(
        _ name: String, _ format: SettingFormat<Element>, whenUnset: String, _ summary: String
    ) throws -> [Element]? {
        declare(name, format, isList: true, whenUnset, summary)
        guard let texts = values.stringArray(forKey: ConfigKey(path(name))) else { return nil }
        notes.given.append((path(name), texts.joined(separator: ", ")))
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
        _ name: String, most: Int = .max, _ read: (SettingsReader, String) throws -> Entry
    ) throws -> [Entry]? {
        // Reads an empty entry, to declare its fields for the catalog. Ignores the error that required fields are
        // missing.
        if entries[name] ?? 0 == 0 { _ = try? read(SettingsReader(self, path: name, table: name), name) }
        guard let count = entries[name] else { return nil }
        guard count <= most else {
            throw SettingsError("'\(name)' has \(count) entries, expected at most \(most)")
        }
        return try (0..<count).map {
            try read(SettingsReader(self, path: "\(name).\($0)", table: name), "\(name).\($0)")
        }
    }

    private func declare<Value>(
        _ name: String, _ format: SettingFormat<Value>, isList: Bool, _ defaultText: String, _ summary: String
    ) {
        let full = place.map { "\($0.table).\(name)" } ?? name
        guard !notes.declarations.contains(where: { $0.name == full }) else { return }
        notes.declarations.append(
            SettingDeclaration(
                name: full, table: place?.table, isList: isList, expectation: format.expectation,
                defaultText: defaultText, summary: summary, accepts: { format.parse($0) != nil }))
    }
}
