import Configuration
import Vocabulary

extension MasterKeySettings {
    static let texts = fields.map { "master-key.\($0)" } + fields.map { "master-key.previous.\($0)" }
    static let lists = ["master-key.command", "master-key.previous.command"]
    private static let fields = ["source", "file", "credential", "timeout"]
    private static let longestTimeout = 300

    private enum Kind: String, CaseIterable {
        case file
        case systemdCredential = "systemd-credential"
        case command
    }

    static func read(
        _ reader: ConfigReader, in directory: String, _ variables: [String: String]
    ) throws -> MasterKeySettings {
        let current = try source(reader, "master-key", variables, defaultFile: "\(directory)/master.key")
        let isGiven =
            fields.contains { reader.string(forKey: ConfigKey("master-key.previous.\($0)")) != nil }
            || reader.stringArray(forKey: "master-key.previous.command") != nil
        let previous = isGiven ? try source(reader, "master-key.previous", variables, defaultFile: nil) : nil
        guard previous != current else {
            throw SettingsError("'master-key.previous' is the same as 'master-key', expected where the old key is")
        }
        return MasterKeySettings(current: current, previous: previous)
    }

    private static func source(
        _ reader: ConfigReader, _ name: String, _ variables: [String: String], defaultFile: String?
    ) throws -> MasterKeySource {
        func text(_ field: String) -> String? { reader.string(forKey: ConfigKey("\(name).\(field)")) }
        let command = reader.stringArray(forKey: ConfigKey("\(name).command"))
        guard let kind = Kind(rawValue: text("source") ?? Kind.file.rawValue) else {
            throw SettingsError(
                "'\(name).source' is '\(text("source") ?? "")', expected one of \(Kind.allCases.map(\.rawValue).joined(separator: ", "))"
            )
        }
        // A value that is not looked at would be taken for one that counts.
        let given: [(Kind, String, Bool)] = [
            (.file, "file", text("file") != nil), (.systemdCredential, "credential", text("credential") != nil),
            (.command, "command", command != nil), (.command, "timeout", text("timeout") != nil),
        ]
        for (other, field, isThere) in given where isThere && other != kind {
            throw SettingsError("'\(name).\(field)' is set, expected '\(name).source: \(other.rawValue)' with it")
        }
        switch kind {
        case .file:
            guard let path = text("file") ?? defaultFile else {
                throw SettingsError("'\(name).file' is missing, expected the file that holds the key")
            }
            return .file(path)
        case .systemdCredential:
            let credential = text("credential") ?? "master-key"
            guard !credential.isEmpty, !credential.contains("/"), ![".", ".."].contains(credential) else {
                throw SettingsError("'\(name).credential' is '\(credential)', expected a name without '/'")
            }
            return .credential(name: credential, directory: variables["CREDENTIALS_DIRECTORY"])
        case .command:
            guard let command, command.first?.hasPrefix("/") == true else {
                throw SettingsError(
                    "'\(name).command' is '\((command ?? []).joined(separator: " "))', expected a list of a program's absolute path and its arguments"
                )
            }
            let timeout = text("timeout") ?? "30s"
            guard let seconds = DurationText.seconds(timeout), (1...longestTimeout).contains(seconds) else {
                throw SettingsError(
                    "'\(name).timeout' is '\(timeout)', \(DurationText.expectation), from 1s to \(longestTimeout)s")
            }
            return .command(command, seconds: seconds)
        }
    }
}
