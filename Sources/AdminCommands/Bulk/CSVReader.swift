package import FoundationEssentials

/// Reads comma-separated values as RFC 4180 defines them.
///
/// In addition, it skips a byte order mark, and accepts LF as well as CRLF at the end of a line. It refuses every file
/// that a spreadsheet program might read differently.
package struct CSVReader {
    package struct Row: Hashable, Sendable {
        /// The number of the row's first line in the file, counted from 1.
        package let line: Int
        package let fields: [String]

        package init(line: Int, fields: [String]) {
            self.line = line
            self.fields = fields
        }
    }

    package struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        package let description: String
    }

    package static let longestField = 65_536

    private var bytes: Data
    private var index: Int
    private var line = 1

    package init(_ bytes: Data) {
        // The indices of a slice of `Data` may begin at a number other than 0. A copy begins at 0.
        self.bytes = Data(bytes)
        index = self.bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    }

    /// Every row of a file, including the heading. Empty lines are accepted only at the end of the file.
    ///
    /// - Throws: ``Fault`` with the number of the line.
    package static func rows(_ bytes: Data) throws(Fault) -> [Row] {
        var reader = CSVReader(bytes)
        var rows: [Row] = []
        var empty: Int?
        while let row = try reader.next() {
            guard row.fields != [""] else {
                empty = empty ?? row.line
                continue
            }
            if let empty { throw Fault(description: "line \(empty) is empty, expected a row") }
            rows.append(row)
        }
        return rows
    }

    /// Reads the next row.
    ///
    /// - Returns: nil at the end of the file.
    package mutating func next() throws(Fault) -> Row? {
        guard index < bytes.count else { return nil }
        let begin = line
        var fields: [String] = []
        while true {
            fields.append(try field())
            guard index < bytes.count else { return Row(line: begin, fields: fields) }
            let byte = bytes[index]
            index += 1
            if byte == UInt8(ascii: ",") { continue }
            // The field ended at CR LF or at LF. This skips the LF after a CR.
            if byte == UInt8(ascii: "\r") { index += 1 }
            line += 1
            return Row(line: begin, fields: fields)
        }
    }

    private mutating func field() throws(Fault) -> String {
        guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else { return try plainField() }
        let begin = line
        index += 1
        var content: [UInt8] = []
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if byte == UInt8(ascii: "\"") {
                guard index < bytes.count, bytes[index] == byte else {
                    guard isAtEndOfField else {
                        throw Fault(
                            description: "line \(line) has text after a closing quote, expected a comma or its end")
                    }
                    return try text(content[...], from: begin)
                }
                index += 1
            }
            if byte == UInt8(ascii: "\n") { line += 1 }
            content.append(byte)
            try check(byte, count: content.count)
        }
        throw Fault(description: "line \(begin) has a quote that is never closed")
    }

    private mutating func plainField() throws(Fault) -> String {
        let begin = index
        while index < bytes.count, !isAtEndOfField {
            let byte = bytes[index]
            guard byte != UInt8(ascii: "\"") else {
                throw Fault(description: "line \(line) has a quote inside a field, expected the whole field in quotes")
            }
            guard byte != UInt8(ascii: "\r") else {
                throw Fault(description: "line \(line) has a carriage return without a line feed, expected LF or CRLF")
            }
            index += 1
            try check(byte, count: index - begin)
        }
        return try text(bytes[begin..<index], from: line)
    }

    private var isAtEndOfField: Bool {
        guard index < bytes.count else { return true }
        switch bytes[index] {
        case UInt8(ascii: ","), UInt8(ascii: "\n"): return true
        case UInt8(ascii: "\r"): return index + 1 < bytes.count && bytes[index + 1] == UInt8(ascii: "\n")
        default: return false
        }
    }

    private func check(_ byte: UInt8, count: Int) throws(Fault) {
        guard byte != 0 else { throw Fault(description: "line \(line) contains a NUL byte, expected text") }
        guard count <= Self.longestField else {
            throw Fault(description: "line \(line) has a field of more than \(Self.longestField) bytes")
        }
    }

    private func text(_ bytes: some Collection<UInt8>, from line: Int) throws(Fault) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Fault(description: "line \(line) is not UTF-8: save the file as UTF-8")
        }
        return text
    }
}
