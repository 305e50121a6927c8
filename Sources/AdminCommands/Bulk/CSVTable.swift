package import FoundationEssentials
import Vocabulary

/// The rows of a CSV file whose first line, the header line, names the columns. Unknown columns are refused, and every
/// row has a field for each column.
package struct CSVTable: Sendable {
    package struct Row: Sendable {
        /// The number of the row's first line in the file, counted from 1.
        package let lineNumber: Int
        private let fields: [String: String]

        init(lineNumber: Int, fields: [String: String]) {
            self.lineNumber = lineNumber
            self.fields = fields
        }

        /// The field in a column; nil if the file does not have the column or the field is empty.
        package subscript(column: String) -> String? { fields[column].flatMap { $0.isEmpty ? nil : $0 } }
    }

    /// The rows after the header line.
    package let rows: [Row]

    /// - Parameters:
    ///   - required: columns that the file must have, in any order.
    ///   - optional: columns that the file may have.
    /// - Throws: ``CSVReader/Fault``, which names the invalid line, unless the file is empty.
    package init(_ bytes: Data, required: [String], optional: [String]) throws(CSVReader.Fault) {
        let rows = try CSVReader.rows(bytes)
        let knownNames = (required + optional).joined(separator: ", ")
        guard let header = rows.first else {
            throw CSVReader.Fault(description: "the file is empty; the first line must name the columns: \(knownNames)")
        }
        for (index, name) in header.fields.enumerated() {
            guard (required + optional).contains(name) else {
                throw CSVReader.Fault(
                    description:
                        "line 1 has the unknown column '\(name.prefix(64))'; the known columns are \(knownNames)")
            }
            guard !header.fields[..<index].contains(name) else {
                throw CSVReader.Fault(description: "line 1 has the column '\(name)' twice; remove one of the two")
            }
        }
        for name in required where !header.fields.contains(name) {
            throw CSVReader.Fault(description: "line 1 has no column '\(name)', which is required")
        }
        var found: [Row] = []
        found.reserveCapacity(rows.count - 1)
        for row in rows.dropFirst() {
            guard row.fields.count == header.fields.count else {
                throw CSVReader.Fault(
                    description:
                        "line \(row.lineNumber) has \(row.fields.count.counted("field")), expected \(header.fields.count) as in line 1"
                )
            }
            found.append(
                Row(
                    lineNumber: row.lineNumber,
                    fields: Dictionary(uniqueKeysWithValues: zip(header.fields, row.fields))))
        }
        self.rows = found
    }
}
