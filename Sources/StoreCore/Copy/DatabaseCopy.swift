/// Copies the tables of one database to another, and compares the two databases afterwards.
package struct DatabaseCopy {
    /// The result for one table.
    package struct Table: Sendable {
        package let name: String
        /// The number of rows that this run copied. An earlier run may have copied others.
        package let copied: Int
        package let source: TableDigest
        package let target: TableDigest

        package var isEqual: Bool { source == target }
    }

    private let source: any TableReading
    private let target: any TableWriting
    private let plan: CopyPlan

    /// - Parameter withClaims: as in ``CopyPlan``.
    /// - Throws: `internalError` if the schemas of the two databases do not match.
    package init(from source: any TableReading, to target: any TableWriting, withClaims: Bool = true) throws {
        (self.source, self.target) = (source, target)
        plan = try CopyPlan(from: source.tables(), to: target.tables(), withClaims: withClaims)
    }

    /// Copies the rows that the target lacks.
    ///
    /// - Parameter report: called with a text for the operator before each table.
    /// - Returns: the number of rows that were copied, by the name of the table.
    @discardableResult
    package func copyRows(report: (String) -> Void = { _ in }) throws -> [String: Int] {
        let copier = TableCopier(from: source, to: target)
        var copied: [String: Int] = [:]
        for table in plan.tables {
            report("copying \(table.name)")
            copied[table.name] = try copier.copy(table)
        }
        try target.setAssignedNumbers(source.assignedNumbers())
        return copied
    }

    /// Reads both databases and compares them.
    ///
    /// - Parameters:
    ///   - copied: the result of ``copyRows(report:)``.
    ///   - report: called with a text for the operator before each table.
    /// - Returns: the result for each table, and one sentence for each difference.
    package func compare(
        copied: [String: Int] = [:], report: (String) -> Void = { _ in }
    ) throws -> (tables: [Table], faults: [String]) {
        let tables = try plan.tables.map { table in
            report("comparing \(table.name)")
            return Table(
                name: table.name, copied: copied[table.name] ?? 0, source: try TableDigest(of: table, in: source),
                target: try TableDigest(of: table, in: target))
        }
        let differing = tables.filter { !$0.isEqual }.map { "the table \($0.name) differs from the source" }
        return (tables, differing + (try numbersThatDiffer()))
    }

    /// One sentence for each table in which the target would assign a number that the source has already assigned.
    private func numbersThatDiffer() throws -> [String] {
        let assigned = try target.assignedNumbers()
        return try source.assignedNumbers().sorted { $0.key < $1.key }.compactMap { table, number in
            guard let found = assigned[table], found < number else { return nil }
            return "the table \(table) would assign the number \(found + 1) again"
        }
    }
}
