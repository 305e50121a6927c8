/// Comma-separated values, RFC 4180, read strictly: a file that is cut off or quoted wrongly is refused, never guessed at.
package enum CSVText {
    package struct Record: Hashable, Sendable {
        /// Where it begins, from 1.
        package let line: Int
        package let fields: [String]
    }

    package struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        package let line: Int
        package let finding: String
        package var description: String { "line \(line): \(finding)" }
    }

    /// Lines end with LF or CRLF; the last may end without. Empty lines and a byte order mark are passed over.
    package static func records(of bytes: some Collection<UInt8>) throws(Fault) -> [Record] {
        var reader = Reader()
        for byte in bytes { try reader.take(byte) }
        return try reader.finish()
    }

    /// Writes one record, quoted where it has to be, with its line feed. Control characters become blanks, so that a
    /// record is always one line.
    package static func line(_ fields: [String]) -> String {
        fields.map { field in
            let field = String(String.UnicodeScalarView(field.unicodeScalars.map { $0.value < 32 ? " " : $0 }))
            let needsQuotes = field.unicodeScalars.contains { [",", "\"", "\r", "\n"].contains($0) }
            return needsQuotes ? "\"\(field.replacing("\"", with: "\"\""))\"" : field
        }.joined(separator: ",") + "\n"
    }

    private struct Reader {
        private enum Place { case fieldStart, plain, quoted, quoteInQuoted, carriageReturn }

        private var place = Place.fieldStart
        private var line = 1
        private var begins = 1
        private var field: [UInt8] = []
        private var fields: [String] = []
        private var wasQuoted = false
        private var records: [Record] = []

        mutating func take(_ byte: UInt8) throws(Fault) {
            guard byte != 0 else { throw fault("found a NUL, expected text") }
            switch (place, byte) {
            case (.quoted, UInt8(ascii: "\"")): place = .quoteInQuoted
            case (.quoted, _):
                if byte == UInt8(ascii: "\n") { line += 1 }
                field.append(byte)
            case (.quoteInQuoted, UInt8(ascii: "\"")):
                field.append(byte)
                place = .quoted
            case (.carriageReturn, UInt8(ascii: "\n")): try endRecord()
            case (.carriageReturn, _): throw fault("found a carriage return alone, expected LF or CRLF")
            case (_, UInt8(ascii: ",")): try endField()
            case (_, UInt8(ascii: "\n")): try endRecord()
            case (_, UInt8(ascii: "\r")): place = .carriageReturn
            case (.quoteInQuoted, _):
                throw fault("found text after a closing quote, expected a comma or the line's end")
            case (.fieldStart, UInt8(ascii: "\"")):
                place = .quoted
                wasQuoted = true
            case (_, UInt8(ascii: "\"")):
                throw fault("found a quote inside of a field, expected the whole field in quotes")
            default:
                place = .plain
                field.append(byte)
            }
        }

        mutating func finish() throws(Fault) -> [Record] {
            guard place != .quoted else { throw Fault(line: begins, finding: "found no closing quote") }
            if !field.isEmpty || !fields.isEmpty || wasQuoted { try endRecord() }
            return records
        }

        private mutating func endField() throws(Fault) {
            guard let text = String(validating: field, as: UTF8.self) else {
                throw fault("found bytes that are not UTF-8")
            }
            fields.append(text)
            field.removeAll(keepingCapacity: true)
            place = .fieldStart
        }

        private mutating func endRecord() throws(Fault) {
            let isEmpty = fields.isEmpty && field.isEmpty && !wasQuoted
            try endField()
            if records.isEmpty, let first = fields.first, first.hasPrefix("\u{FEFF}") {
                fields[0] = String(first.unicodeScalars.dropFirst())
            }
            if !isEmpty { records.append(Record(line: begins, fields: fields)) }
            fields.removeAll(keepingCapacity: true)
            wasQuoted = false
            line += 1
            begins = line
        }

        private func fault(_ finding: String) -> Fault { Fault(line: line, finding: finding) }
    }
}
