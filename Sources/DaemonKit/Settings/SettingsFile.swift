import Yams

/// The settings in the YAML file, by their dotted names, such as `log.level`. A name in a list contains the index of
/// the entry: `callers.0.uid`.
///
/// A name that is not in the ``SettingsCatalog`` is a problem, so that a misspelt setting is not ignored.
struct SettingsFile {
    /// The settings with one value.
    private(set) var texts: [String: String] = [:]
    /// The settings whose value is a list.
    private(set) var lists: [String: [String]] = [:]
    /// How many entries each list of mappings in the file has, such as `callers`.
    private(set) var entries: [String: Int] = [:]
    /// What is wrong with the file's names and with the kinds of its values, in the order of the file.
    private(set) var problems: [String] = []

    /// The first parts of the names that have problems, such as `callers`.
    private(set) var groupsWithProblems: Set<String> = []

    private let path: String
    private let catalog = SettingsCatalog.standard

    /// - Throws: ``SettingsError`` if the file cannot be read or is not a YAML mapping in UTF-8.
    init(readingFrom path: String) throws {
        self.path = path
        let bytes = try SmallFile.read(path, named: "the configuration file \(path)")
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw SettingsError("the configuration file \(path) is not UTF-8, expected YAML in UTF-8")
        }
        let node: Node?
        do { node = try Yams.compose(yaml: text) } catch {
            throw SettingsError("the configuration file \(path) is not YAML\(Self.position(of: error))")
        }
        guard let node, node.null == nil else { return }
        guard case .mapping = node else {
            throw SettingsError("the configuration file \(path) is not a YAML mapping, expected lines such as 'log:'")
        }
        flatten(node, at: "")
    }

    /// The place and the kind of an error. Does not contain Yams's own message, which quotes the line: the value in a
    /// line may be a secret, and the log and `status` show the error of a reload.
    private static func position(of error: any Error) -> String {
        switch error as? YamlError {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            ": line \(mark.line), column \(mark.column): \(problem)"
        case .duplicatedKeysInMapping(let names, let context):
            ": line \(context.mark.line): '\(names.first ?? "")' occurs more than once in the same place; keep one, with everything that belongs to it"
        default: ""
        }
    }

    private mutating func flatten(_ node: Node, at name: String) {
        switch node {
        case .mapping where catalog.isTable(name):
            report("'\(name)' is a mapping, expected a list of mappings", of: name)
        case .mapping(let mapping):
            for (key, value) in mapping {
                guard let key = key.string else {
                    report("a name under '\(name)' is not text", of: name)
                    continue
                }
                flatten(value, at: name.isEmpty ? key : "\(name).\(key)")
            }
        case .sequence(let items) where catalog.isTable(name): readTable(name, items)
        case .sequence(let items): readList(name, items)
        case .scalar(let scalar):
            // A name without a value, or with the value `null`, is treated as not set, unless that would be unsafe.
            if node.null != nil, scalar.style == .plain { return readEmpty(name) }
            // A single text is accepted as a list with one element.
            if catalog[name]?.isList == true {
                lists[name] = [scalar.string]
            } else if isDeclared(name, isList: false) {
                texts[name] = scalar.string
            }
        case .alias: report("'\(name)' is a YAML alias, expected a value", of: name)
        }
    }

    private mutating func readTable(_ name: String, _ items: Node.Sequence) {
        for (index, item) in items.enumerated() {
            guard case .mapping = item else {
                return report("'\(name).\(index)' is not a mapping, expected a list of mappings", of: name)
            }
            flatten(item, at: "\(name).\(index)")
        }
        entries[name] = items.count
    }

    private mutating func readList(_ name: String, _ items: Node.Sequence) {
        guard isDeclared(name, isList: true) else { return }
        let elements = items.map { $0.scalar?.string }
        guard elements.allSatisfy({ $0 != nil }) else {
            return report("'\(name)' has an element that is not text, expected a list of texts", of: name)
        }
        lists[name] = elements.compactMap(\.self)
    }

    private mutating func readEmpty(_ name: String) {
        // If the line `merchants` is missing, a caller may act for every merchant; if `callers` is missing, the
        // standard permits apply. A line whose value was deleted by mistake must not have the same effect.
        // The same applies to `provisioning.enabled`: if the line is missing, provisioning may be enabled.
        if name.split(separator: ".").first == "callers" || name == "provisioning.enabled" {
            report("'\(name)' is empty, expected a value; write [] for none, or remove the line", of: name)
        } else if catalog[name] == nil, !catalog.isTable(name), catalog.exampleOfGroup(name) == nil {
            reportUnknown(name)
        }
    }

    /// Reports a problem unless the setting exists and is of this kind.
    private mutating func isDeclared(_ name: String, isList: Bool) -> Bool {
        let found = isList ? "a list" : "one value"
        guard let declaration = catalog[name] else {
            if catalog.isTable(name) {
                report("'\(name)' is \(found), expected a list of mappings", of: name)
            } else if let example = catalog.exampleOfGroup(name) {
                report(
                    "'\(name)' is \(found), expected a group of settings, such as '\(example)'; write 'name: value' lines below '\(name):', indented",
                    of: name)
            } else {
                reportUnknown(name)
            }
            return false
        }
        guard declaration.isList == isList else {
            report("'\(name)' is \(found), expected \(isList ? "one value" : "a list")", of: name)
            return false
        }
        return true
    }

    private mutating func reportUnknown(_ name: String) {
        report("unknown setting '\(name)'; docs/settings.md and 'man merchantkeyd.yaml' list every setting", of: name)
    }

    private mutating func report(_ problem: String, of name: String) {
        problems.append("\(path): \(problem)")
        groupsWithProblems.insert(String(name.prefix { $0 != "." }))
    }
}
