import Yams

/// The YAML file with the settings, each under its dotted name, such as `log.level` or, with the index of a list's
/// entry, `callers.0.uid`.
///
/// Refuses a name that is not in the ``SettingsCatalog``, so that a misspelt setting is not ignored.
struct SettingsFile {
    /// The settings with one value.
    private(set) var texts: [String: String] = [:]
    /// The settings whose value is a list.
    private(set) var lists: [String: [String]] = [:]
    /// How many entries each list of mappings in the file has, such as `callers`.
    private(set) var entries: [String: Int] = [:]

    private let path: String
    private let catalog = SettingsCatalog.standard

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
        case .mapping where catalog.isTable(name):
            throw SettingsError("\(path): '\(name)' is a mapping, expected a list of mappings")
        case .mapping(let mapping):
            for (key, value) in mapping {
                guard let key = key.string else { throw SettingsError("\(path): a name under '\(name)' is not text") }
                try flatten(value, at: name.isEmpty ? key : "\(name).\(key)")
            }
        case .sequence(let items) where catalog.isTable(name):
            entries[name] = items.count
            for (index, item) in items.enumerated() { try flatten(item, at: "\(name).\(index)") }
        case .sequence(let items):
            try requireDeclaration(of: name, isList: true)
            lists[name] = try items.map { item in
                guard let text = item.scalar?.string else {
                    throw SettingsError("\(path): '\(name)' has an element that is not text, expected a list of texts")
                }
                return text
            }
        case .scalar(let scalar):
            // A name without a value, or with the value `null`, counts as not set.
            guard node.null == nil || scalar.style != .plain else {
                // If the line `merchants` is missing, a caller may act for every merchant; if `callers` is missing, the
                // standard permits apply. A line whose value was deleted by mistake must not have the same effect.
                guard name.split(separator: ".").first != "callers" else {
                    throw SettingsError(
                        "\(path): '\(name)' is empty, expected a value; write [] for none, or remove the line")
                }
                return
            }
            // One text is accepted for a list with one element.
            if catalog[name]?.isList == true {
                lists[name] = [scalar.string]
            } else {
                try requireDeclaration(of: name, isList: false)
                texts[name] = scalar.string
            }
        case .alias: throw SettingsError("\(path): '\(name)' is a YAML alias, expected a value")
        }
    }

    private func requireDeclaration(of name: String, isList: Bool) throws {
        guard let declaration = catalog[name] else {
            throw SettingsError("\(path): unknown setting '\(name)'; etc/merchantkeyd.yaml lists every setting")
        }
        guard declaration.isList == isList else {
            throw SettingsError(
                "\(path): '\(name)' is \(isList ? "a list" : "one value"), expected \(isList ? "one value" : "a list")")
        }
    }
}
