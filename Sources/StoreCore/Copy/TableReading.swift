/// Reads the tables of a database for a copy. Each method blocks the calling thread.
package protocol TableReading {
    /// Every table of the schema, without the own tables of SQLite or PostgreSQL.
    func tables() throws -> [CopiedTable]

    /// The first rows after a key, in the order of the primary key.
    ///
    /// - Parameter key: nil to begin with the first row.
    func rows(of table: CopiedTable, after key: CopiedRow?, limit: Int) throws -> [CopiedRow]

    /// The highest primary key; nil if the table is empty.
    func lastKey(of table: CopiedTable) throws -> CopiedRow?

    /// For each table that never assigns a number twice: the highest number that was ever assigned to a row, even if
    /// the row was removed.
    func assignedNumbers() throws -> [String: Int64]
}

/// Writes the tables of a new database, and reads them back. Each method blocks the calling thread.
package protocol TableWriting: TableReading {
    associatedtype Reader: TableReading
    /// Reads the tables that this type writes.
    var reader: Reader { get }

    /// Runs `body` in one transaction, in which no trigger of the schema fires for the table: the rows already contain
    /// the results of the source's triggers.
    func write(to table: CopiedTable, _ body: (_ insert: ([CopiedRow]) throws -> Void) throws -> Void) throws

    /// Makes the database assign only higher numbers than these from now on. Call this after the rows were written.
    func setAssignedNumbers(_ numbers: [String: Int64]) throws
}

extension TableWriting {
    package func tables() throws -> [CopiedTable] { try reader.tables() }

    package func rows(of table: CopiedTable, after key: CopiedRow?, limit: Int) throws -> [CopiedRow] {
        try reader.rows(of: table, after: key, limit: limit)
    }

    package func lastKey(of table: CopiedTable) throws -> CopiedRow? { try reader.lastKey(of: table) }

    package func assignedNumbers() throws -> [String: Int64] { try reader.assignedNumbers() }
}
