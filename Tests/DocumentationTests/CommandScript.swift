import Foundation

/// The commands of a document as one shell script, which runs them from top to bottom in one test installation.
///
/// HTML comments in the document, which readers do not see, control the script:
/// - `<!-- test`, lines of shell, `-->`: preparations.
/// - `<!-- test replace TEXT SHELL -->`: TEXT is replaced by SHELL in the blocks that follow.
/// - `<!-- the documentation test skips this block: REASON -->`: the next block is not run. ``reasons`` lists the
///   reasons that are accepted.
struct CommandScript: Sendable {
    /// The accepted reasons not to run a block.
    static let reasons: Set<String> = ["needs Apple", "needs root and systemd", "CI runs these scripts"]

    private(set) var text = ""
    /// The number of blocks that are run.
    private(set) var blockCount = 0
    /// Comments and blocks that break these rules.
    private(set) var faults: [String] = []

    private let path: String
    private var replacements: [(text: String, shell: String)]
    private var skipsNextBlock = false

    /// - Parameter directory: the directory of the test installation; its paths replace those of an installed daemon.
    init(_ document: MarkdownDocument, in directory: String) {
        path = document.path
        replacements = [
            ("/run/merchantkeyd/", "\(directory)/run/"), ("/etc/merchantkeyd/", "\(directory)/etc/"),
            ("/var/lib/merchantkeyd", "\(directory)/state"), ("/var/backups/merchantkeyd", "\(directory)/backups"),
        ]
        var lines = document.lines.enumerated().makeIterator()
        while let (index, line) = lines.next() {
            let trimmed = line.trimmingCharacters(in: .whitespaces)
            if trimmed == "<!-- test" {
                add(Self.rest(of: &lines, until: "-->"), at: index)
            } else if let match = trimmed.wholeMatch(of: /<!-- test replace (\S+) (.+) -->/) {
                replacements.append((String(match.1), String(match.2)))
            } else if let match = trimmed.wholeMatch(of: /<!-- the documentation test skips this block: (.+) -->/) {
                skipsNextBlock = true
                if !Self.reasons.contains(String(match.1)) { faults.append("line \(index + 1): \(match.1)") }
            } else if trimmed.hasPrefix("<!--") {
                faults.append("line \(index + 1): unknown comment \(trimmed)")
            } else if trimmed == "```sh" || trimmed == "```console" {
                addBlock(Self.rest(of: &lines, until: "```"), isSession: trimmed.hasSuffix("console"), at: index)
            } else if trimmed.hasPrefix("```"), trimmed != "```" {
                if trimmed == "```bash" || trimmed == "```shell" { faults.append("line \(index + 1): use sh") }
                _ = Self.rest(of: &lines, until: "```")
            }
        }
    }

    private mutating func addBlock(_ block: [String], isSession: Bool, at index: Int) {
        if skipsNextBlock {
            skipsNextBlock = false
            return
        }
        let commands = isSession ? block.filter { $0.hasPrefix("$ ") }.map { String($0.dropFirst(2)) } : block
        blockCount += 1
        add(
            commands.map { line in
                replacements.reduce(line) { $0.replacingOccurrences(of: $1.text, with: $1.shell) }
            }, at: index)
    }

    private mutating func add(_ lines: [String], at index: Int) {
        text += "place='\(path):\(index + 1)'\n" + lines.joined(separator: "\n") + "\n"
    }

    /// The lines before the end, without their common indentation.
    private static func rest(
        of lines: inout some IteratorProtocol<(offset: Int, element: String)>, until end: String
    ) -> [String] {
        var found: [String] = []
        while let (_, line) = lines.next(), line.trimmingCharacters(in: .whitespaces) != end { found.append(line) }
        let indentation = found.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
        return found.map { String($0.dropFirst(indentation)) }
    }
}
