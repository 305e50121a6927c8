package import FoundationEssentials

/// Reads comma-separated values as RFC 4180 defines them.
///
/// In addition to RFC 4180, a line may end in LF alone, and a byte order mark at the start of the file is skipped. A
/// file that other programs might read in another way is refused, such as one with a quote inside an unquoted field.
package struct CSVReader {
    package struct Row: Hashable, Sendable {
        /// The number of the row's first line in the file, counted from 1.
        package let lineNumber: Int
        package let fields: [String]

        package init(lineNumber: Int, fields: [String]) {
            self.lineNumber = lineNumber
            self.fields = fields
        }
    }

    /// Says what is wrong with the file, and in which line, unless the file is empty.
    package struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        package let description: String
    }

    /// The longest field, in bytes.
    package static let longestField = 65_536

    private var bytes: Data
    private var index: Int
    /// The number of the line at `index`, counted from 1.
    private var lineNumber = 1

    package init(_ bytes: Data) {
        // The indices of a slice of `Data` may begin at a number other than 0. A copy begins at 0.
        self.bytes = Data(bytes)
        index = self.bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    }

    /// Every row of a file, including the header line. Empty lines are accepted only at the end of the file.
    ///
    /// - Throws: ``Fault`` with the number of the line.
    package static func rows(_ bytes: Data) throws(Fault) -> [Row] {
        var reader = CSVReader(bytes)
        var rows: [Row] = []
        var firstEmptyLine: Int?
        while let row = try reader.next() {
            guard row.fields != [""] else {
                firstEmptyLine = firstEmptyLine ?? row.lineNumber
                continue
            }
            if let firstEmptyLine { throw Fault(description: "line \(firstEmptyLine) is empty; remove the line") }
            rows.append(row)
        }
        return rows
    }

    /// Reads the next row.
    ///
    /// - Returns: nil at the end of the file.
    package mutating func next() throws(Fault) -> Row? {
        guard index < bytes.count else { return nil }
        let firstLine = lineNumber
        var fields: [String] = []
        while true {
            fields.append(try field())
            guard index < bytes.count else { return Row(lineNumber: firstLine, fields: fields) }
            let byte = bytes[index]
            index += 1
            if byte == UInt8(ascii: ",") { continue }
            // The field ended at CR LF or at LF. This skips the LF after a CR.
            if byte == UInt8(ascii: "\r") { index += 1 }
            lineNumber += 1
            return Row(lineNumber: firstLine, fields: fields)
        }
    }

    private mutating func field() throws(Fault) -> String {
        guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else { return try plainField() }
        let firstLine = lineNumber
        index += 1
        var content: [UInt8] = []
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if byte == UInt8(ascii: "\"") {
                // In a quoted field, two double quotes in a row mean one double quote. A single double quote closes the
                // field.
                guard index < bytes.count, bytes[index] == byte else {
                    guard isAtEndOfField else {
                        throw Fault(
                            description:
                                "line \(lineNumber) has text after a closing quote; only a comma or the end of the line may follow"
                        )
                    }
                    return try text(content[...], fromLine: firstLine)
                }
                index += 1
            }
            if byte == UInt8(ascii: "\n") { lineNumber += 1 }
            content.append(byte)
            try checkByte(byte, fieldLength: content.count)
        }
        throw Fault(description: "line \(firstLine) has a quote that is never closed")
    }

    private mutating func plainField() throws(Fault) -> String {
        let begin = index
        while index < bytes.count, !isAtEndOfField {
            let byte = bytes[index]
            guard byte != UInt8(ascii: "\"") else {
                throw Fault(
                    description:
                        "line \(lineNumber) has a quote inside a field; put the whole field in double quotes, and write each quote inside the field as two quotes"
                )
            }
            guard byte != UInt8(ascii: "\r") else {
                throw Fault(description: "line \(lineNumber) has a carriage return without a line feed; use LF or CRLF")
            }
            index += 1
            try checkByte(byte, fieldLength: index - begin)
        }
        return try text(bytes[begin..<index], fromLine: lineNumber)
    }

    private var isAtEndOfField: Bool {
        guard index < bytes.count else { return true }
        switch bytes[index] {
        case UInt8(ascii: ","), UInt8(ascii: "\n"): return true
        case UInt8(ascii: "\r"): return index + 1 < bytes.count && bytes[index + 1] == UInt8(ascii: "\n")
        default: return false
        }
    }

    private func checkByte(_ byte: UInt8, fieldLength: Int) throws(Fault) {
        guard byte != 0 else { throw Fault(description: "line \(lineNumber) contains a NUL byte, expected text") }
        guard fieldLength <= Self.longestField else {
            throw Fault(description: "line \(lineNumber) has a field of more than \(Self.longestField) bytes")
        }
    }

    private func text(_ bytes: some Collection<UInt8>, fromLine line: Int) throws(Fault) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Fault(description: "line \(line) is not UTF-8: save the file as UTF-8")
        }
        return text
    }
}
