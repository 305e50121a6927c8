import Configuration
import Vocabulary

/// Reads settings. Each call also declares a setting: its name, format, default and purpose.
///
/// The calls do not throw. They collect all ``problems``, so that an operator sees every wrong setting at once. What a
/// call returns for a wrong value must not be used: the code that creates a reader checks ``problems`` at the end.
///
/// To create the ``SettingsCatalog``, all settings are read once while none of them is set. So a type that reads
/// settings must make all its calls before it throws an error, even the calls whose results it does not need.
final class SettingsReader {
    private let values: ConfigReader
    /// How many entries each list of mappings has.
    private let entryCounts: [String: Int]
    /// The names of the environment variables that are set.
    private let environmentNames: Set<String>
    private let records: Records
    /// If this reader reads one entry of a list of mappings: the entry's path, such as `callers.0`, and the list's
    /// name, such as `callers`. Otherwise nil.
    private let entry: (path: String, table: String)?
    /// Whether the calls only declare settings, and read none.
    private let declaresOnly: Bool

    /// What the calls have read and declared. The readers of entries share this object with the reader of the file.
    private final class Records {
        var declarations: [SettingDeclaration] = []
        var inForce: [SettingInForce] = []
        var problems: [String] = []
    }

    init(_ values: ConfigReader, entries: [String: Int], environmentNames: Set<String> = []) {
        self.values = values
        entryCounts = entries
        self.environmentNames = environmentNames
        records = Records()
        entry = nil
        declaresOnly = false
    }

    /// Reads the settings of a file. An environment variable overrides the file.
    convenience init(_ file: SettingsFile?, environment variables: [String: String]) {
        var values: [AbsoluteConfigKey: ConfigValue] = [:]
        for (name, text) in file?.texts ?? [:] {
            values[AbsoluteConfigKey(ConfigKey(name))] = ConfigValue(.string(text), isSecret: false)
        }
        for (name, list) in file?.lists ?? [:] {
            values[AbsoluteConfigKey(ConfigKey(name))] = ConfigValue(.stringArray(list), isSecret: false)
        }
        self.init(
            ConfigReader(providers: [
                EnvironmentVariablesProvider(environmentVariables: variables).prefixKeys(with: "merchantkeyd"),
                InMemoryProvider(values: values),
            ]),
            entries: file?.entries ?? [:], environmentNames: Set(variables.keys))
    }

    private init(_ parent: SettingsReader, path: String, table: String, declaresOnly: Bool = false) {
        values = parent.values
        entryCounts = [:]
        environmentNames = parent.environmentNames
        records = parent.records
        entry = (path, table)
        self.declaresOnly = declaresOnly
    }

    var declarations: [SettingDeclaration] { records.declarations }

    /// Every setting with its value, in the order of the calls.
    var inForce: [SettingInForce] { records.inForce }

    /// The problems of the settings, in the order of the calls.
    var problems: [String] { records.problems }

    /// Adds a problem that another type has found.
    func record(_ problem: String) { record([problem]) }

    private func record(_ problems: [String]) {
        // A reader that only declares settings reads no values, so it would report required settings as missing.
        if !declaresOnly { records.problems += problems }
    }

    /// Thrown by the `body` of ``collect(_:)`` after it has recorded its problems.
    struct ProblemsRecorded: Error {}

    /// Runs `body`, and adds the problems of the ``SettingsError`` that it throws.
    ///
    /// If a value is wrong, the error may only be a consequence of that value. So the error is ignored if a call in
    /// `body` has found a problem.
    ///
    /// - Returns: nil if `body` throws.
    func collect<Value>(_ body: () throws -> Value) -> Value? {
        let before = records.problems.count
        do { return try body() } catch {
            if records.problems.count == before, !(error is ProblemsRecorded) {
                record((error as? SettingsError)?.problems ?? ["\(error)"])
            }
            return nil
        }
    }

    /// The name of a setting in errors. For a field of a list of mappings it contains the index: `callers.0.uid`.
    func path(_ name: String) -> String { entry.map { "\($0.path).\(name)" } ?? name }

    /// - Parameter whenUnset: what applies if the setting is not set, as text for the catalog.
    /// - Returns: nil if the setting is not set, or if its value is wrong.
    func optional<Value>(
        _ name: String, _ format: SettingFormat<Value>, whenUnset: String, _ summary: String
    ) -> Value? {
        declare(name, format, isList: false, whenUnset, summary)
        guard !declaresOnly else { return nil }
        guard let text = values.string(forKey: ConfigKey(path(name))) else {
            noteInForce(name, whenUnset, .standard)
            return nil
        }
        noteInForce(name, text, originIfSet(name))
        guard let value = format.parse(text) else {
            record("'\(path(name))' is '\(text)', \(format.expectation)")
            return nil
        }
        return value
    }

    /// - Parameter fallback: the default, as it would be written in the file.
    func value<Value>(
        _ name: String, _ format: SettingFormat<Value>, default fallback: String, _ summary: String
    ) -> Value {
        if let value = optional(name, format, whenUnset: fallback, summary) { return value }
        guard let value = format.parse(fallback) else {
            preconditionFailure(
                "the default of '\(name)' does not have the setting's format; a test reads every default")
        }
        return value
    }

    /// - Returns: nil if the list is not set, or if one of its elements is wrong.
    func list<Element>(
        _ name: String, _ format: SettingFormat<Element>, whenUnset: String, _ summary: String
    ) -> [Element]? {
        declare(name, format, isList: true, whenUnset, summary)
        guard !declaresOnly else { return nil }
        guard let texts = values.stringArray(forKey: ConfigKey(path(name))) else {
            noteInForce(name, whenUnset, .standard)
            return nil
        }
        noteInForce(name, texts.isEmpty ? "[]" : texts.joined(separator: ", "), originIfSet(name))
        let elements = texts.map { (text: $0, element: format.parse($0)) }
        for wrong in elements where wrong.element == nil {
            record("'\(path(name))' has '\(wrong.text)', \(format.expectation)")
        }
        let valid = elements.compactMap { $0.element }
        return valid.count == texts.count ? valid : nil
    }

    /// Reads a list of mappings. Calls `read` for each entry.
    ///
    /// - Returns: nil if the list is not set, if one of its entries is wrong, or if it has more than `maximum` entries.
    func table<Entry>(
        _ name: String, maximum: Int = .max, whenUnset: String, _ read: (SettingsReader, String) throws -> Entry
    ) -> [Entry]? {
        let count = entryCounts[name]
        // If there is no entry, declares the fields of entries for the catalog. Ignores the error that required fields
        // are missing.
        if count ?? 0 == 0 { _ = try? read(SettingsReader(self, path: name, table: name, declaresOnly: true), name) }
        guard let count, count > 0 else {
            noteInForce(name, count == nil ? whenUnset : "[]", count == nil ? .standard : .file)
            return count.map { _ in [] }
        }
        guard count <= maximum else {
            record("'\(name)' has \(count.counted("entry", "entries")), expected at most \(maximum)")
            return nil
        }
        let rows = (0..<count).compactMap { index in
            collect { try read(SettingsReader(self, path: "\(name).\(index)", table: name), "\(name).\(index)") }
        }
        return rows.count == count ? rows : nil
    }

    /// Whether the configuration file or an environment variable sets a setting that was already read.
    func isSet(_ name: String) -> Bool {
        records.inForce.contains { $0.name == name && $0.origin != .standard }
    }

    /// Replaces the description of a default by the value that applies, such as the path of a socket.
    func showDefault(_ value: String, of name: String) {
        guard let index = records.inForce.firstIndex(where: { $0.name == name && $0.origin == .standard }) else {
            return
        }
        records.inForce[index].value = value
    }

    /// Notes that an option of the command line overrides a setting.
    func showOverride(_ value: String, of name: String) {
        guard let index = records.inForce.firstIndex(where: { $0.name == name }) else { return }
        records.inForce[index].value = value
        records.inForce[index].origin = .commandLine
    }

    private func noteInForce(_ name: String, _ value: String, _ origin: SettingInForce.Origin) {
        records.inForce.append(SettingInForce(name: path(name), value: value, origin: origin))
    }

    /// An environment variable overrides the file, so if the variable is set, the value comes from the variable.
    private func originIfSet(_ name: String) -> SettingInForce.Origin {
        guard entry == nil else { return .file }
        return environmentNames.contains(SettingDeclaration.environmentName(of: name)) ? .environment : .file
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
