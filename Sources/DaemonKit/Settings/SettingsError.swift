/// Why the settings were refused: the setting, what was found, what was expected.
package struct SettingsError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
