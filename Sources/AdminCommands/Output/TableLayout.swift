import Foundation
import Glibc

/// Which columns of a table are shown, and how wide the table may be.
package struct TableLayout: Sendable {
    /// All columns at full width.
    package static let wide = TableLayout(columns: nil, width: nil)
    private static let shortestColumn = 8
    private static let gap = 2

    /// The columns of `--columns`, in their order; nil for the default columns.
    let columns: [String]?
    /// The width of the terminal; nil if lines may have any length.
    let width: Int?

    package init(columns: [String]?, width: Int?) {
        self.columns = columns
        self.width = width
    }

    /// The name of a column in `--columns`: `public-key-hash` for the heading `PUBLIC KEY HASH`, `valid-to` for `VALID
    /// TO (UTC)`.
    package static func name(ofHeading heading: String) -> String {
        heading.lowercased().replacing(" (utc)", with: "").replacing(" ", with: "-")
    }

    /// The columns of `--columns` that a table with these headings does not have.
    func unknownColumns(_ headings: [String]) -> [String] {
        let known = headings.map(Self.name(ofHeading:))
        return (columns ?? []).filter { !known.contains($0) }
    }

    /// The table as it is shown. With `--columns`, the result has the selected columns, or all columns if the table has
    /// none of the selected ones. Otherwise the table is made to fit ``width`` as far as possible: first columns of
    /// `details` are omitted, then texts are shortened. The last column is never shortened, because it may be a
    /// sentence.
    ///
    /// - Parameter details: the headings of columns that may be omitted, in the order in which they are omitted.
    package func arranged(_ headings: [String], _ rows: [[Cell]], details: [String]) -> Block {
        let known = headings.map(Self.name(ofHeading:))
        if let columns {
            let shown = columns.compactMap { known.firstIndex(of: $0) }
            guard !shown.isEmpty else { return .table(headings: headings, rows: rows) }
            return Self.table(headings, rows, columns: shown)
        }
        var shown = Array(headings.indices)
        var widths = headings.indices.map { column in
            max(headings[column].count, rows.map { $0[column].text.count }.max() ?? 0)
        }
        guard let width else { return .table(headings: headings, rows: rows) }
        func excess() -> Int {
            // Only the first 30 characters of the last column must fit, because a sentence may continue on the next
            // line.
            let last = shown.last.map { max(0, widths[$0] - 30) } ?? 0
            return shown.map { widths[$0] }.reduce(Self.gap * (shown.count - 1), +) - last - width
        }
        for detail in details where excess() > 0 { shown.removeAll { headings[$0] == detail } }
        while excess() > 0 {
            let shortenable = shown.dropLast().filter { widths[$0] > Self.shortestColumn }
            guard let widest = shortenable.max(by: { widths[$0] < widths[$1] }) else { break }
            widths[widest] -= 1
        }
        let last = shown.last
        let shortened = rows.map { row in
            row.enumerated().map { column, cell in column == last ? cell : cell.shortened(to: widths[column]) }
        }
        let titles = headings.enumerated().map { column, heading in
            column == last ? heading : Cell(heading).shortened(to: widths[column]).text
        }
        return Self.table(titles, shortened, columns: shown)
    }

    private static func table(_ headings: [String], _ rows: [[Cell]], columns: [Int]) -> Block {
        .table(headings: columns.map { headings[$0] }, rows: rows.map { row in columns.map { row[$0] } })
    }

    /// The width of the terminal on standard output; 80 if the terminal does not report it; nil if standard output is
    /// no terminal, such as a pipe, because a program may read the output. 0x5413 is TIOCGWINSZ, a macro that Swift
    /// can't import.
    static var terminalWidth: Int? {
        guard StandardStream.output.isTerminal else { return nil }
        var size = winsize()
        guard ioctl(STDOUT_FILENO, 0x5413, &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}

extension Cell {
    /// The cell with its text cut to a width. A publicKeyHash stays usable, because its first characters are a valid
    /// KEY argument.
    fileprivate func shortened(to width: Int) -> Cell {
        text.count <= width ? self : Cell(text.prefix(max(width - 1, 0)) + "…", tone)
    }
}
