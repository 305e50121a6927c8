import Yams

/// The YAML file, flattened to dotted names: `callers[0].uid` is `callers.0.uid`.
///
/// Every name in it has to be a setting's: a misspelt setting is refused, not ignored.
struct SettingsFile {
    private(set) var texts: [String: String] = [:]
    private(set) var lists: [String: [String]] = [:]
    /// How many entries each list of mappings has, such as `callers`; none for one that is not there.
    private(set) var entries: [String: Int] = [:]

    private let path: String

    init(readingFrom path: String) throws {
        self.path = path
        let bytes = try SmallFile.read(path, named: "the configuration file \(path)")
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw SettingsError("the configuration file \(path) is not UTF-8, expected YAML in UTF-8")
        }
        let node: Node?
        do { node = try Yams.compose(yaml: text) } catch {
            throw SettingsError("the configuration file \(path) is not YAML: \(error)")
        }
        if let node, node.null == nil { try flatten(node, at: "") }
    }

    private mutating func flatten(_ node: Node, at name: String) throws {
        switch node {
        case .mapping where SettingNames.tables.keys.contains(name):
            throw SettingsError("\(path): '\(name)' is a mapping, expected a list")
        case .mapping(let mapping):
            for (key, value) in mapping {
                guard let key = key.string else { throw SettingsError("\(path): a name under '\(name)' is not text") }
                try flatten(value, at: name.isEmpty ? key : "\(name).\(key)")
            }
        case .sequence(let items) where SettingNames.tables.keys.contains(name):
            entries[name] = items.count
            for (index, item) in items.enumerated() { try flatten(item, at: "\(name).\(index)") }
        case .sequence(let items):
            try judge(name, isList: true)
            lists[name] = try items.map { item in
                guard let text = item.scalar?.string else {
                    throw SettingsError("\(path): '\(name)' holds something other than text, expected a list of texts")
                }
                return text
            }
        case .scalar(let scalar):
            guard node.null == nil || scalar.style != .plain else {
                // Absence means every merchant, or the standard permits: an emptied entry must not widen what it gives.
                guard name.split(separator: ".").first != "callers" else {
                    throw SettingsError("\(path): '\(name)' is empty, expected a value, [] for none, or no such line")
                }
                return
            }
            if SettingNames.isList(name) {
                lists[name] = [scalar.string]
            } else {
                try judge(name, isList: false)
                texts[name] = scalar.string
            }
        case .alias: throw SettingsError("\(path): '\(name)' is a YAML alias, expected a value")
        }
    }

    private func judge(_ name: String, isList: Bool) throws {
        guard SettingNames.isKnown(name) else {
            throw SettingsError("\(path): unknown setting '\(name)'; etc/merchantkeyd.yaml lists every setting")
        }
        guard SettingNames.isList(name) == isList else {
            throw SettingsError(
                "\(path): '\(name)' is \(isList ? "a list" : "one value"), expected \(isList ? "one value" : "a list")")
        }
    }
}

/// The names of all settings.
package enum SettingNames {
    static let texts =
        [
            "environment", "state-directory", "sockets.admin.path", "sockets.admin.mode",
            "sockets.decryptor.path", "sockets.decryptor.mode", "log.level",
            "audit.head.file", "audit.head.syslog", "audit.head.every", "audit.head.event-every",
            "backup.directory", "backup.every", "backup.keep", "events.retention-days",
            "roll.renew-before", "roll.renewal-jitter", "roll.quiet-period", "roll.promote-on-proof",
            "roll.finish-when-quiet",
        ] + MasterKeySettings.texts + GatewaySettings.texts
    static let lists =
        ["trust.token-roots", "trust.certificate-issuers"] + MasterKeySettings.lists + GatewaySettings.lists
    /// Lists of mappings, and the fields that each entry may have.
    static let tables: [String: (texts: [String], lists: [String])] = [
        "callers": (["uid", "gid"], ["permits", "merchants"]),
        "events.webhooks": (
            ["name", "url", "secret-file", "allow-internal-addresses"], ["kinds", "trust-roots"]
        ),
    ]

    /// Every one, a field of a list of mappings as if the list had one entry: `callers.uid`.
    package static let all = Set(
        texts + lists + tables.flatMap { name, fields in (fields.texts + fields.lists).map { "\(name).\($0)" } })

    static func isKnown(_ name: String) -> Bool {
        texts.contains(name) || lists.contains(name)
            || field(name).map { ($0.texts + $0.lists).contains($1) } ?? false
    }

    static func isList(_ name: String) -> Bool {
        lists.contains(name) || field(name).map { $0.lists.contains($1) } ?? false
    }

    /// `callers.0.uid` is the field `uid` of the table `callers`.
    private static func field(_ name: String) -> ((texts: [String], lists: [String]), String)? {
        let parts = name.split(separator: ".")
        guard parts.count > 2, Int(parts[parts.count - 2]) != nil, let last = parts.last,
            let table = tables[parts.dropLast(2).joined(separator: ".")]
        else { return nil }
        return (table, String(last))
    }
}
