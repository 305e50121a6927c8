/// Copies the rows of tables from one database to another. Uses little memory, whatever the size of the tables.
package struct TableCopier {
    /// How many rows are in memory at once. A row has at most about a megabyte, and usually less than a kilobyte.
    static let rowsPerRead = 500
    /// About how many rows one transaction copies. Fewer transactions take less time. After an interruption, the rows
    /// of the last transaction are copied again.
    static let rowsPerTransaction = 20_000

    private let source: any TableReading
    private let target: any TableWriting
    private let rowsPerRead: Int
    private let rowsPerTransaction: Int

    /// - Parameters:
    ///   - rowsPerRead: tests pass a small number.
    ///   - rowsPerTransaction: tests pass a small number.
    package init(
        from source: any TableReading, to target: any TableWriting, rowsPerRead: Int? = nil,
        rowsPerTransaction: Int? = nil
    ) {
        self.source = source
        self.target = target
        self.rowsPerRead = rowsPerRead ?? Self.rowsPerRead
        self.rowsPerTransaction = rowsPerTransaction ?? Self.rowsPerTransaction
    }

    /// Copies the rows whose primary keys are above the highest primary key in the target. The target has the other
    /// rows already, from an interrupted copy.
    ///
    /// - Returns: the number of rows that were copied.
    package func copy(_ table: CopiedTable) throws -> Int {
        var key = try target.lastKey(of: table)
        var copied = 0
        var isComplete = false
        while !isComplete {
            try target.write(to: table) { insert in
                var rowsInTransaction = 0
                while rowsInTransaction < rowsPerTransaction {
                    let rows = try source.rows(of: table, after: key, limit: rowsPerRead)
                    guard let last = rows.last else {
                        isComplete = true
                        break
                    }
                    try insert(rows)
                    key = table.key(of: last)
                    rowsInTransaction += rows.count
                }
                copied += rowsInTransaction
            }
        }
        return copied
    }
}
