import Mustache
import StrictJSON

/// All texts of the pages in one language, read from `texts.json`. A translation is another file with the same names.
///
/// The file contains groups of texts. A text is a string, or an object with the members `one` and `other` if its form
/// depends on a number. `{name}` in a text is a placeholder for a value. The name of a text is its path in the file,
/// such as `site.name`.
package struct Texts: Sendable {
    private enum Entry: Sendable {
        case plain(String)
        case counted(one: String, other: String)
    }

    /// The file with the English texts.
    package static let english: [UInt8] = PackageResources.texts_json

    /// The texts in the form that the templates use.
    let tree: TextTree
    private let entries: [String: Entry]

    /// - Throws: ``PageFault`` if the file is not valid.
    package init(parsing file: [UInt8]) throws {
        let value: JSONValue
        do {
            value = try JSONParser.parse(file, limits: JSONLimits(bytes: 262_144, depth: 6, values: 4_096))
        } catch {
            throw PageFault("texts.json is not valid: \(error)")
        }
        guard case .object(let object) = value else { throw PageFault("texts.json is not an object") }
        var entries: [String: Entry] = [:]
        tree = .group(try Self.read(object, path: "", into: &entries))
        self.entries = entries
    }

    private static func read(
        _ object: JSONObject, path: String, into entries: inout [String: Entry]
    ) throws -> [String: TextTree] {
        var children: [String: TextTree] = [:]
        for member in object.members {
            let name = path + member.name
            switch member.value {
            case .string(let text):
                guard !text.isEmpty else { throw PageFault("the text '\(name)' in texts.json is empty") }
                entries[name] = .plain(text)
                children[member.name] = .text(text)
            case .object(let inner):
                if let entry = counted(inner) {
                    entries[name] = entry
                } else {
                    children[member.name] = .group(try read(inner, path: "\(name).", into: &entries))
                }
            case .null, .bool, .number, .array:
                throw PageFault("the text '\(name)' in texts.json is \(member.value.kind), expected a string")
            }
        }
        return children
    }

    private static func counted(_ object: JSONObject) -> Entry? {
        guard object.members.count == 2, case .string(let one)? = object["one"],
            case .string(let other)? = object["other"]
        else { return nil }
        return .counted(one: one, other: other)
    }

    /// The names of all texts.
    package var names: Set<String> { Set(entries.keys) }

    func hasPlainText(_ name: String) -> Bool {
        if case .plain? = entries[name] { true } else { false }
    }

    /// - Returns: the name itself if there is no such text, which ``checkComplete()`` rules out.
    func plain(_ name: String) -> String {
        if case .plain(let text)? = entries[name] { text } else { name }
    }

    /// The form of the text for a number.
    ///
    /// - Returns: the name itself if there is no such text, which ``checkComplete()`` rules out.
    func counted(_ name: String, _ count: Int) -> String {
        if case .counted(let one, let other)? = entries[name] { count == 1 ? one : other } else { name }
    }

    /// Checks that the file has every text that the program uses. The templates are checked separately.
    ///
    /// - Throws: ``PageFault`` naming the first missing text.
    func checkComplete() throws {
        for name in Self.namesInProgram.plain where !hasPlainText(name) {
            throw PageFault("the text '\(name)' is missing in texts.json, expected a string")
        }
        for name in Self.namesInProgram.counted {
            guard case .counted? = entries[name] else {
                throw PageFault("the text '\(name)' is missing in texts.json, expected the forms 'one' and 'other'")
            }
        }
    }

    /// The names of the texts that the program uses without a template.
    package static var namesInProgram: (plain: [String], counted: [String]) {
        var plain = TextKey.allCases.map(\.rawValue)
        for family in TextFamily.allCases { plain += family.members.map { "\(family.rawValue).\($0)" } }
        return (plain, CountedTextKey.allCases.map(\.rawValue))
    }
}

/// The texts as a tree, in which a template finds `t.site.name`.
enum TextTree: Sendable {
    case text(String)
    case group([String: TextTree])
}

extension TextTree: MustacheParent {
    func child(named name: String) -> Any? {
        guard case .group(let children) = self, let child = children[name] else { return nil }
        if case .text(let text) = child { return text }
        return child
    }
}
