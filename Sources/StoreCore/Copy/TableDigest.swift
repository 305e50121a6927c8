import Crypto
import FoundationEssentials

/// The number of the rows of a table, and a SHA-256 over all of their values. Two tables with the same digest have the
/// same content, whichever databases they are in.
package struct TableDigest: Equatable, Sendable {
    package let rows: Int
    package let sha256: [UInt8]

    /// Reads the whole table, in the order of its primary key.
    package init(of table: CopiedTable, in database: any TableReading) throws {
        var hash = SHA256()
        var encoding = Encoding()
        encoding.append(text: table.name)
        for column in table.columns { encoding.append(text: column.name) }
        var rows = 0
        var key: CopiedRow?
        while true {
            let page = try database.rows(of: table, after: key, limit: TableCopier.rowsPerRead)
            for row in page { for value in row { encoding.append(value) } }
            hash.update(data: encoding.takeBytes())
            rows += page.count
            guard let last = page.last else { break }
            key = table.key(of: last)
        }
        self.rows = rows
        sha256 = Array(hash.finalize())
    }

    /// Values as bytes, so that different values always have different bytes: the kind of the value, its length unless
    /// the kind determines it, and the value.
    private struct Encoding {
        private var bytes: [UInt8] = []

        mutating func append(_ value: StoredValue?) {
            switch value {
            case nil: bytes.append(0)
            case .integer(let integer):
                bytes.append(1)
                append(bigEndian: integer)
            case .flag(let flag):
                bytes.append(1)
                append(bigEndian: flag ? 1 : 0)
            case .text(let text): append(text: text)
            case .bytes(let value):
                bytes.append(3)
                append(bigEndian: Int64(value.count))
                bytes.append(contentsOf: value)
            }
        }

        mutating func append(text: String) {
            bytes.append(2)
            append(bigEndian: Int64(text.utf8.count))
            bytes.append(contentsOf: text.utf8)
        }

        private mutating func append(bigEndian integer: Int64) {
            withUnsafeBytes(of: integer.bigEndian) { bytes.append(contentsOf: $0) }
        }

        mutating func takeBytes() -> Data {
            defer { bytes.removeAll(keepingCapacity: true) }
            return Data(bytes)
        }
    }
}
