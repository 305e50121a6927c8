import Foundation
import Testing

/// A document, as lines.
struct MarkdownDocument: Sendable, CustomTestStringConvertible {
    /// The root of the repository.
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// From the root, such as `docs/operate.md`.
    let path: String
    let lines: [String]

    init(_ path: String) throws {
        self.path = path
        lines = try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
            .components(separatedBy: "\n")
    }

    /// The documents in the root directory and in docs/.
    static func all() throws -> [MarkdownDocument] {
        let docs = try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: "docs").path)
            .filter { $0.hasSuffix(".md") }.sorted().map { "docs/\($0)" }
        return try (["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"] + docs).map { try Self($0) }
    }

    var testDescription: String { path }

    /// The lines outside of fenced blocks.
    var prose: [String] {
        var isFenced = false
        return lines.filter { line in
            let isFence = line.trimmingCharacters(in: .whitespaces).hasPrefix("```")
            if isFence { isFenced.toggle() }
            return !isFence && !isFenced
        }
    }

    /// The anchors of the headings, as links name them: lower case, spaces as hyphens, without other punctuation.
    var anchors: Set<String> {
        Set(
            prose.filter { $0.hasPrefix("#") }.map { heading in
                heading.drop { $0 == "#" }.trimmingCharacters(in: .whitespaces).lowercased()
                    .filter { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" || $0 == " " }
                    .replacingOccurrences(of: " ", with: "-")
            })
    }

    /// The rows of every table whose first column has this heading, cell by cell.
    func rows(under heading: String) -> [[String]] {
        var found: [[String]] = []
        var isInside = false
        for line in prose {
            guard line.hasPrefix("|") else {
                isInside = false
                continue
            }
            let cells = line.dropFirst().split(separator: "|", omittingEmptySubsequences: false).dropLast()
                .map { $0.trimmingCharacters(in: .whitespaces) }
            if cells.first == heading {
                isInside = true
            } else if isInside, cells.first?.hasPrefix("---") != true {
                found.append(cells)
            }
        }
        return found
    }

    /// The texts in backquotes in the first cells of these rows.
    func names(under heading: String) -> [String] { rows(under: heading).flatMap { Self.quoted($0.first ?? "") } }

    /// The texts in backquotes.
    static func quoted(_ text: String) -> [String] { text.matches(of: /`([^`]+)`/).map { String($0.1) } }

    /// The contents of the fenced blocks of this language, each with a line end.
    func blocks(_ language: String) -> [String] {
        var found: [String] = []
        var inside: [String]?
        for line in lines {
            if let some = inside {
                if line == "```" {
                    found.append(some.joined(separator: "\n") + "\n")
                    inside = nil
                } else {
                    inside = some + [line]
                }
            } else if line == "```\(language)" {
                inside = []
            }
        }
        return found
    }
}
