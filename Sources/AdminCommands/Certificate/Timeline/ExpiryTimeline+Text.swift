import Vocabulary
import WireAPI

/// The chart for the terminal, at most 80 columns wide.
extension ExpiryTimeline {
    private static let width = 80
    private static let monthLetters = Array("JFMAMJJASOND")

    package var blocks: [Block] {
        guard !endings.isEmpty else {
            let last = Self.name(ofMonth: months.upperBound - 1)
            return [.text("no certificate of an active key expires until the end of \(last)")]
        }
        let rows = self.rows
        guard rows.count <= Self.maximumRows else { return [table] }
        return [
            .text(([yearLine, letterLine].filter { !$0.isEmpty } + rows.map(line)).joined(separator: "\n")),
            .text("C, S, R: a current, standby or retiring key's certificate expires; 2: two expire"),
        ]
    }

    /// The number of certificates by month.
    private var table: Block {
        let counts = months.map { (month: $0, count: count(in: $0)) }
        let largest = max(counts.map { $0.count }.max() ?? 0, 1)
        return .table(
            headings: ["MONTH", "EXPIRE", "CURRENT", "STANDBY", "RETIRING", ""],
            rows: counts.map { month, total in
                [
                    Cell(Self.name(ofMonth: month)), Cell(total), Cell(count(in: month, .current)),
                    Cell(count(in: month, .standby)), Cell(count(in: month, .retiring)),
                    Cell(String(repeating: "#", count: total == 0 ? 0 : max(1, total * 35 / largest))),
                ]
            })
    }

    /// How many columns a month has.
    private var columns: Int { months.count > 25 ? 1 : 2 }

    private var nameWidth: Int { Self.width - columns * months.count - 2 }

    /// The line with the years: at the first month and at each January, if the year fits.
    private var yearLine: String {
        var line = String(repeating: " ", count: nameWidth + 2)
        var end = line.count
        for month in months where month == months.lowerBound || month.isMultiple(of: 12) {
            let begin = nameWidth + 2 + (month - months.lowerBound) * columns
            // The year at the first month is omitted if it would overlap the year at the next January.
            let nextYear = nameWidth + 2 + ((month / 12 + 1) * 12 - months.lowerBound) * columns
            guard begin >= end, begin + 5 <= nextYear, begin + 4 <= Self.width else { continue }
            line = line.padded(to: begin) + "\(month / 12)"
            end = line.count + 1
        }
        return Self.withoutTrailingBlanks(line)
    }

    private var letterLine: String {
        let letters = months.map { String(Self.monthLetters[$0 % 12]).padded(to: columns) }
        return Self.withoutTrailingBlanks("".padded(to: nameWidth + 2) + letters.joined())
    }

    private func line(_ row: Row) -> String {
        let marks = months.map { month in
            Self.mark(row.endings.filter { $0.month == month }).padded(to: columns)
        }
        return Self.withoutTrailingBlanks(Self.shortened(row.merchant.rawValue, to: nameWidth) + "  " + marks.joined())
    }

    private static func mark(_ endings: [Ending]) -> String {
        guard let first = endings.first else { return "." }
        guard endings.count == 1 else { return endings.count < 10 ? "\(endings.count)" : "+" }
        return switch first.key.state {
        case .current: "C"
        case .standby: "S"
        case .retiring: "R"
        // A timeline has only active key pairs.
        case .pending, .revoked, .destroyed: "?"
        }
    }

    /// Keeps the end of the text, because the identifiers of merchants usually begin with the same characters.
    private static func shortened(_ text: String, to width: Int) -> String {
        text.count <= width ? text.padded(to: width) : "…" + text.suffix(width - 1)
    }

    private static func withoutTrailingBlanks(_ text: String) -> String {
        text.lastIndex { $0 != " " }.map { String(text[...$0]) } ?? ""
    }
}
