import FoundationEssentials
import StrictJSON
import Vocabulary

/// Prints results to standard output, and notes and warnings to standard error.
struct Printer: Sendable {
    let format: OutputFormat
    /// Whether notes, warnings and progress are not printed.
    let isQuiet: Bool
    private let layout: TableLayout
    private let style = Style.ofStandardOutput

    init(format: OutputFormat, isQuiet: Bool, layout: TableLayout) {
        self.format = format
        self.isQuiet = isQuiet
        self.layout = layout
    }

    /// Prints a document: with `--output json` as JSON, otherwise as the blocks that `table` returns.
    func show(_ json: Data, orTable table: () -> [Block]) throws {
        switch format {
        case .json: self.json(try Self.parse(json))
        case .table: show(table())
        }
    }

    func show(_ blocks: [Block]) {
        warnOfUnknownColumns(blocks)
        let arranged = blocks.map { block in
            guard case .table(let headings, let rows, let details) = block else { return block }
            return layout.arranged(headings, rows, details: details)
        }
        StandardStream.output.write(arranged.map { $0.render(style) }.joined(separator: "\n"))
    }

    /// Warns about columns in `--columns` that no table has.
    private func warnOfUnknownColumns(_ blocks: [Block]) {
        let tables = blocks.compactMap { block -> [String]? in
            guard case .table(let headings, _, _) = block else { return nil }
            return headings
        }
        guard let first = tables.first else { return }
        for column in layout.unknownColumns(tables.flatMap(\.self)) {
            let known = first.map(TableLayout.name(ofHeading:)).filter { !$0.isEmpty }.joined(separator: ", ")
            note("warning: there is no column '\(column)'; the columns are \(known)")
        }
    }

    func json(_ value: JSONValue) { StandardStream.output.write(JSONText.pretty(value) + "\n") }

    /// Prints one line of a stream, such as one event as JSON.
    func line(_ text: String) { StandardStream.output.write(text + "\n") }

    /// Prints bytes unchanged.
    func raw(_ bytes: Data) { StandardStream.output.write(bytes) }

    /// Prints one line to standard error, unless the printer is quiet.
    func note(_ text: String) {
        if !isQuiet { alwaysNote(text) }
    }

    /// Prints one line to standard error, even if the printer is quiet: the result of a dry run, or a text that the
    /// user needs to answer a question.
    func alwaysNote(_ text: String) {
        StandardStream.error.write(text.printable(keepingLines: false) + "\n")
    }

    func warn(_ warnings: [String]) {
        for warning in warnings { note("warning: \(warning)") }
    }

    /// Parses a response of the daemon.
    ///
    /// - Throws: ``CommandFailure`` if the response is not valid JSON.
    static func parse(_ json: Data) throws(CommandFailure) -> JSONValue {
        do {
            return try JSONParser.parse(json, limits: .response)
        } catch {
            throw CommandFailure(.failed, "merchantkeyctl: the daemon's response can't be read: \(error)")
        }
    }
}

extension JSONLimits {
    /// The limits for a response of the daemon.
    static let response = JSONLimits(bytes: 16 << 20, depth: 32, values: 4 << 20)
}
