import DaemonKit
import Foundation
import Testing
import Yams

/// etc/merchantkeyd.yaml, which operators copy.
@Suite struct SettingsExampleTests {
    static let example = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "etc/merchantkeyd.yaml")

    /// The file without its comment marks: the lines that are settings, and inside of them their own comments.
    private static func uncommented() throws -> String {
        let lines = try String(contentsOf: example, encoding: .utf8).split(separator: "\n")
        let setting = /# *(?:- )?[a-z][a-z-]*:(?: .*)?/
        return lines.filter { $0.wholeMatch(of: setting) != nil }.map { $0.dropFirst(2) }.joined(separator: "\n")
    }

    private static func names(in node: Node, at name: String = "") -> Set<String> {
        switch node {
        case .mapping(let mapping):
            mapping.reduce(into: []) { found, entry in
                let key = entry.key.string ?? "?"
                found.formUnion(names(in: entry.value, at: name.isEmpty ? key : "\(name).\(key)"))
            }
        case .sequence(let items) where items.contains { $0.mapping != nil }:
            items.reduce(into: []) { $0.formUnion(names(in: $1, at: name)) }
        default: [name]
        }
    }

    @Test func `the example names every setting there is, and no other`() throws {
        let node = try #require(try Yams.compose(yaml: Self.uncommented()))
        let found = Self.names(in: node)
        #expect(found.subtracting(SettingNames.all) == [])
        #expect(SettingNames.all.subtracting(found) == [])
    }

    @Test func `the example changes nothing as it stands`() throws {
        #expect(try Yams.compose(yaml: String(contentsOf: Self.example, encoding: .utf8)) == nil)
    }
}
