import MerchantCore
import StoreCore

extension QueryResult {
    /// The rows of a statement whose columns are those of a table, in their order.
    func copiedRows(of table: CopiedTable) throws -> [CopiedRow] {
        let width = Int32(table.columns.count)
        return try (0..<Int32(count)).map { row in
            try (0..<width).map { column in try copiedValue(row: row, column: column, of: table) }
        }
    }

    private func copiedValue(row: Int32, column: Int32, of table: CopiedTable) throws -> StoredValue? {
        try withBytes(row: row, column: column) { bytes, type in
            let value: StoredValue? =
                switch type {
                case .boolean: bytes.first.map { .integer($0 == 0 ? 0 : 1) }
                case .bytes: .bytes(Array(bytes))
                case .text, .name: String(validating: bytes, as: UTF8.self).map { .text($0) }
                case .integer64: bytes.bigEndian(Int64.self).map { .integer($0) }
                case .integer32: bytes.bigEndian(Int32.self).map { .integer(Int64($0)) }
                case .integer16: bytes.bigEndian(Int16.self).map { .integer(Int64($0)) }
                case nil: nil
                }
            guard let value else { throw MerchantError.invalidValue(of: table.columns[Int(column)].name) }
            return value
        }
    }
}
