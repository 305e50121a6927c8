package import FoundationEssentials

/// A CSV file with a heading. The heading names only known columns, and every row has as many fields as the heading.
package struct CSVTable: Sendable {
    package struct Row: Sendable {
        package let line: Int
        private let fields: [String: String]

        init(line: Int, fields: [String: String]) {
            self.line = line
            self.fields = fields
        }

        /// The field in a column; nil if the file does not have the column or the field is empty.
        package subscript(column: String) -> String? { fields[column].flatMap { $0.isEmpty ? nil : $0 } }
    }

    package let rows: [Row]

    /// - Parameters:
    ///   - required: columns that the file must have, in any order.
    ///   - optional: columns that the file may have.
    /// - Throws: ``CSVReader/Fault`` with the line, what was found in it and what was expected.
    package init(_ bytes: Data, required: [String], optional: [String]) throws(CSVReader.Fault) {
        let rows = try CSVReader.rows(bytes)
        let names = (required + optional).joined(separator: ", ")
        guard let heading = rows.first else {
            throw CSVReader.Fault(description: "the file is empty, expected a heading with some of \(names)")
        }
        for (index, name) in heading.fields.enumerated() {
            guard (required + optional).contains(name) else {
                throw CSVReader.Fault(
                    description: "line 1 has the unknown column '\(name.prefix(64))', expected some of \(names)")
            }
            guard !heading.fields[..<index].contains(name) else {
                throw CSVReader.Fault(description: "line 1 has the column '\(name)' twice, expected each column once")
            }
        }
        for name in required where !heading.fields.contains(name) {
            throw CSVReader.Fault(description: "line 1 has no column '\(name)', which is required")
        }
        var found: [Row] = []
        found.reserveCapacity(rows.count - 1)
        for row in rows.dropFirst() {
            guard row.fields.count == heading.fields.count else {
                throw CSVReader.Fault(
                    description:
                        "line \(row.line) has \(row.fields.count) fields, expected \(heading.fields.count) as in the heading"
                )
            }
            found.append(
                Row(line: row.line, fields: Dictionary(uniqueKeysWithValues: zip(heading.fields, row.fields))))
        }
        self.rows = found
    }
}
