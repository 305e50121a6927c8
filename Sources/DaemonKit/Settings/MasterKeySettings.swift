import Vocabulary

/// `master-key`: the sources of the master key and of the previous one.
package struct MasterKeySettings: Hashable, Sendable {
    package let current: MasterKeySource
    /// The source of the previous master key. After the operator has changed ``current``, the daemon needs the previous
    /// key until a rotation has replaced the data key that the previous key seals. Nil if not set.
    package let previous: MasterKeySource?

    init(current: MasterKeySource, previous: MasterKeySource? = nil) {
        self.current = current
        self.previous = previous
    }

    init(reading reader: SettingsReader, in directory: String, environment variables: [String: String]) throws {
        let before = reader.problems.count
        let current = SourceSettings(reading: reader, "master-key", of: "the master key")
        let previous = SourceSettings(reading: reader, "master-key.previous", of: "the previous master key")
        // Further problems may only be consequences of a wrong value.
        guard reader.problems.count == before else { throw SettingsReader.ProblemsRecorded() }
        let currentSource = reader.collect { try current.source(variables, defaultFile: "\(directory)/master.key") }
        let previousSource = reader.collect {
            previous.isGiven ? try previous.source(variables, defaultFile: nil) : nil
        }
        guard let currentSource, let previousSource else { throw SettingsReader.ProblemsRecorded() }
        self.init(current: currentSource, previous: previousSource)
        if case .file(let path) = self.current { reader.showDefault(path, of: "master-key.file") }
        // The defaults apply only if there is a previous key.
        if self.previous == nil {
            for field in ["source", "credential", "timeout"] {
                reader.showDefault("-", of: "master-key.previous.\(field)")
            }
        }
        guard self.previous != self.current else {
            throw SettingsError(
                "'master-key.previous' is the same as 'master-key'; set it to the source of the previous key, or remove it"
            )
        }
    }
}

/// The settings of one source of a master key, as they were read. ``source(_:defaultFile:)`` checks that they fit
/// together.
private struct SourceSettings {
    enum Kind: String, CaseIterable {
        case file
        case systemdCredential = "systemd-credential"
        case command
    }

    let name: String
    let kind: Kind?
    let file: String?
    let credential: String?
    let command: [String]?
    let seconds: Duration?

    init(reading reader: SettingsReader, _ name: String, of key: String) {
        self.name = name
        kind = reader.optional(
            "\(name).source", .choice, whenUnset: "file", "Where the daemon reads \(key).")
        file = reader.optional(
            "\(name).file", .text, whenUnset: name == "master-key" ? "master.key in the state directory" : "-",
            "For the source file: the file with the 32 bytes of \(key), mode 0600.")
        credential = reader.optional(
            "\(name).credential", .credentialName, whenUnset: "master-key",
            "For the source systemd-credential: the name of the credential that holds \(key).")
        command = reader.list(
            "\(name).command", .text, whenUnset: "-",
            "For the source command: the path and arguments of a program that prints the 32 bytes of \(key)."
        )
        seconds = reader.optional(
            "\(name).timeout", .duration(inSeconds: 1...300, from: "1s", to: "300s"), whenUnset: "30s",
            "How long the command for \(key) may take.")
    }

    var isGiven: Bool { kind != nil || file != nil || credential != nil || command != nil || seconds != nil }

    func source(_ variables: [String: String], defaultFile: String?) throws -> MasterKeySource {
        let kind = kind ?? .file
        // Refuses a setting of another kind of source, because an operator could believe that the setting has an
        // effect.
        let fields: [(kind: Kind, field: String, isSet: Bool)] = [
            (.file, "file", file != nil), (.systemdCredential, "credential", credential != nil),
            (.command, "command", command != nil), (.command, "timeout", seconds != nil),
        ]
        let problems = fields.filter { $0.isSet && $0.kind != kind }
            .map { other, field, _ in
                "'\(name).\(field)' is set, but has an effect only with '\(name).source: \(other.rawValue)'; set that or remove '\(name).\(field)'"
            }
        guard problems.isEmpty else { throw SettingsError(problems: problems) }
        switch kind {
        case .file:
            guard let path = file ?? defaultFile else {
                throw SettingsError("'\(name).file' is missing; set it to the file that contains the key")
            }
            return .file(path)
        case .systemdCredential:
            return .credential(name: credential ?? "master-key", directory: variables["CREDENTIALS_DIRECTORY"])
        case .command:
            guard let command, command.first?.hasPrefix("/") == true else {
                throw SettingsError(
                    "'\(name).command' is '\((command ?? []).joined(separator: " "))', expected a list of a program's absolute path and its arguments"
                )
            }
            return .command(command, seconds: Int((seconds ?? .seconds(30)).components.seconds))
        }
    }
}

extension SettingFormat where Value == String {
    fileprivate static var credentialName: Self {
        Self(expectation: "expected a name without '/'") {
            $0.isEmpty || $0.contains("/") || [".", ".."].contains($0) ? nil : $0
        }
    }
}
