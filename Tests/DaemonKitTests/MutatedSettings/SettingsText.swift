import Foundation

/// A settings file for tests, as dotted names and their values in YAML's flow style.
struct SettingsText {
    private var values: [String: String] = [:]

    /// The value of a setting in YAML; nil removes the setting.
    subscript(yaml name: String) -> String? {
        get { values[name] }
        set { values[name] = newValue }
    }

    mutating func set(_ name: String, _ text: String) { values[name] = Self.quoted(text) }

    mutating func set(_ name: String, _ texts: [String]) {
        values[name] = "[\(texts.map(Self.quoted).joined(separator: ", "))]"
    }

    /// The settings, one in each line. The daemon accepts dotted names in place of nested mappings.
    var yaml: String { values.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\n" }.joined() }

    /// The text in double quotes, with the escapes that JSON and YAML share.
    static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\u{0}"..."\u{1F}": quoted += String(format: "\\u%04x", scalar.value)
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
