import DaemonKit
import Foundation
import Testing
import Yams

/// etc/merchantkeyd.yaml, which operators copy, compared with the catalog of settings.
@Suite struct SettingsExampleTests {
    static let example = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "etc/merchantkeyd.yaml")

    /// The file without its comment marks: the lines that are settings, with their own comments.
    private static func uncommented() throws -> Node {
        let lines = try String(contentsOf: example, encoding: .utf8).split(separator: "\n")
        let setting = /# *(?:- )?[a-z][a-z-]*:(?: .*)?/
        let text = lines.filter { $0.wholeMatch(of: setting) != nil }.map { $0.dropFirst(2) }.joined(separator: "\n")
        return try #require(try Yams.compose(yaml: text))
    }

    /// Every name with its values, flattened as the daemon does it, with the fields of each list of mappings once.
    private static func values(in node: Node, at name: String = "") -> [String: [String]] {
        switch node {
        case .mapping(let mapping):
            mapping.reduce(into: [:]) { found, entry in
                let key = entry.key.string ?? "?"
                found.merge(values(in: entry.value, at: name.isEmpty ? key : "\(name).\(key)"), uniquingKeysWith: +)
            }
        case .sequence(let items) where items.contains { $0.mapping != nil }:
            items.reduce(into: [:]) { $0.merge(values(in: $1, at: name), uniquingKeysWith: +) }
        case .sequence(let items): [name: items.map { $0.string ?? "" }]
        default: [name: [node.scalar?.string ?? ""]]
        }
    }

    @Test func `the example names every setting there is, and no other`() throws {
        let found = Set(Self.values(in: try Self.uncommented()).keys)
        let declared = Set(SettingsCatalog.standard.declarations.map(\.name))
        #expect(found.subtracting(declared) == [])
        #expect(declared.subtracting(found) == [])
    }

    @Test func `every value in the example is valid`() throws {
        let values = Self.values(in: try Self.uncommented())
        for declaration in SettingsCatalog.standard.declarations {
            for text in values[declaration.name] ?? [] {
                #expect(declaration.accepts(text), "\(declaration.name): \(text)")
            }
        }
    }

    @Test func `the unchanged example sets nothing`() throws {
        #expect(try Yams.compose(yaml: String(contentsOf: Self.example, encoding: .utf8)) == nil)
    }
}
