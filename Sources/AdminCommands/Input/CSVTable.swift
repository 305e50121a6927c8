/// Comma-separated values, RFC 4180, with a line of headings.
package struct CSVTable: Sendable {
    /// Each row by its headings; an empty field is absent.
    package let rows: [[String: String]]

    /// - Parameter columns: the headings there may be; the first one has to be there.
    package init(_ text: String, columns: [String]) throws(CommandFailure) {
        var lines = try Self.parse(text)
        guard !lines.isEmpty else { throw CommandFailure(.refused, "the CSV file has no line of headings") }
        let headings = lines.removeFirst()
        for heading in headings where !columns.contains(heading) {
            throw CommandFailure(
                .refused,
                "the CSV file has a column '\(heading.prefix(64))', expected \(columns.joined(separator: ", "))")
        }
        guard headings.contains(columns[0]), Set(headings).count == headings.count else {
            throw CommandFailure(.refused, "the CSV file's headings lack '\(columns[0])' or name a column twice")
        }
        var rows: [[String: String]] = []
        for (number, fields) in lines.enumerated() where fields != [""] {
            guard fields.count == headings.count else {
                throw CommandFailure(
                    .refused, "row \(number + 2) of the CSV file has \(fields.count) fields, expected \(headings.count)"
                )
            }
            rows.append(Dictionary(uniqueKeysWithValues: zip(headings, fields)).filter { !$0.value.isEmpty })
        }
        self.rows = rows
    }

    private static func parse(_ text: String) throws(CommandFailure) -> [[String]] {
        var lines: [[String]] = []
        var line: [String] = []
        var field = ""
        var isQuoted = false
        var rest = Substring(text)
        func endLine() {
            line.append(field)
            lines.append(line)
            field = ""
            line = []
        }
        while let character = rest.popFirst() {
            switch character {
            case "\"" where isQuoted && rest.first == "\"":
                field.append("\"")
                rest.removeFirst()
            case "\"" where isQuoted: isQuoted = false
            case _ where isQuoted: field.append(character)
            case "\"" where field.isEmpty: isQuoted = true
            case ",":
                line.append(field)
                field = ""
            // A carriage return with its line feed is one Character.
            case "\n", "\r\n": endLine()
            default: field.append(character)
            }
        }
        guard !isQuoted else { throw CommandFailure(.refused, "the CSV file ends inside a quoted field") }
        if !field.isEmpty || !line.isEmpty { endLine() }
        return lines
    }
}
