import ArgumentParser
import FoundationEssentials

/// Hidden in the help, because only scripts/package-deb runs it, to generate the manual page merchantkeyd.yaml(5).
struct SettingsListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings-list", abstract: "List every setting as JSON.", shouldDisplay: false)

    func run() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let list = SettingsList(settings: SettingsCatalog.standard.declarations.map(SettingsList.Setting.init))
        print(String(decoding: try encoder.encode(list), as: UTF8.self))
    }
}

/// What `settings-list` prints.
private struct SettingsList: Encodable {
    let settings: [Setting]

    struct Setting: Encodable {
        let name: String
        let summary: String
        /// What a value, or an element of the list, must be: "expected true or false".
        let expectation: String
        let isList: Bool
        /// The default value, or a description if there is no fixed default.
        let `default`: String
        /// The environment variable that overrides the file; absent if only the file can set the setting.
        let environmentVariable: String?
        /// Whether a reload applies a changed value.
        let isReloadable: Bool
        /// The list of mappings that has this setting as a field.
        let table: String?

        init(_ declaration: SettingDeclaration) {
            name = declaration.name
            summary = declaration.summary
            expectation = declaration.expectation
            isList = declaration.isList
            `default` = declaration.defaultText
            environmentVariable = declaration.environmentName
            isReloadable = declaration.isReloadable
            table = declaration.table
        }
    }
}
