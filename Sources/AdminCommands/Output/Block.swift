import Vocabulary

/// A part of the output for `--output table`.
package enum Block: Sendable {
    /// One line `name  value` for each field. Fields without a value are not printed.
    case record([(name: String, value: Cell?)])
    /// `details` are the headings of columns that may be omitted on a narrow terminal. The first one is omitted first.
    case table(headings: [String], rows: [[Cell]], details: [String] = [])
    /// One row of a table whose other rows are not known yet, so the column widths are given.
    case line([Cell], widths: [Int])
    case text(String)

    /// The block as text. Each line ends with a line feed.
    package func render(_ style: Style) -> String {
        switch self {
        case .record(let fields): Self.record(fields, style)
        case .table(let headings, let rows, _): Self.table(headings, rows, style)
        case .line(let cells, let widths): Self.line(cells, widths, style)
        case .text(let text): text.printable(keepingLines: true) + "\n"
        }
    }

    private static func record(_ fields: [(name: String, value: Cell?)], _ style: Style) -> String {
        let shown = fields.compactMap { field in
            field.value.map { (name: field.name.printable(keepingLines: false), value: $0) }
        }
        let width = shown.map(\.name.count).max() ?? 0
        return shown.map { "\($0.name.padded(to: width))  \($0.value.rendered(style))\n" }.joined()
    }

    private static func table(_ headings: [String], _ rows: [[Cell]], _ style: Style) -> String {
        var widths = headings.map(\.count)
        for row in rows {
            for (column, cell) in row.enumerated() { widths[column] = max(widths[column], cell.text.count) }
        }
        return line(headings.map { Cell($0, .heading) }, widths, style)
            + rows.map { line($0, widths, style) }.joined()
    }

    private static func line(_ cells: [Cell], _ widths: [Int], _ style: Style) -> String {
        let padded = cells.enumerated().map { column, cell in
            // The last column is not padded, so that no line ends with blanks.
            let blanks = column == cells.count - 1 ? 0 : max(0, widths[column] - cell.text.count)
            return cell.rendered(style) + String(repeating: " ", count: blanks)
        }
        return padded.joined(separator: "  ") + "\n"
    }
}

/// One value in a block.
package struct Cell: Sendable, ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
    package let text: String
    package let tone: Tone

    /// Creates a cell. Control characters in the text are replaced, so that a merchant's name or a field of a token
    /// can't control the terminal.
    package init(_ text: String, _ tone: Tone = .plain) {
        self.text = text.printable(keepingLines: false)
        self.tone = tone
    }

    /// Creates a cell with `-` if the text is nil.
    package init(_ text: String?) { self.init(text ?? "-") }

    package init(stringLiteral text: String) { self.init(text) }

    func rendered(_ style: Style) -> String { style.paint(text, tone) }
}
