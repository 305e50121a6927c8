import MerchantCore
import MerchantTestSupport
import SQLiteStore
import StoreCore
import Testing
import Vocabulary

/// Which tables are copied, in which order, and which values the digest of a table distinguishes.
@Suite struct CopyPlanTests {
    private static func table(
        _ name: String, key: [String] = ["id"], kind: CopiedColumn.Kind = .integer, references: Set<String> = []
    ) -> CopiedTable {
        CopiedTable(
            name: name, columns: [CopiedColumn(name: "id", kind: kind)], key: key, references: references)
    }

    private static func refusal(_ source: [CopiedTable], _ target: [CopiedTable]) -> MerchantError.Code? {
        do throws(MerchantError) {
            _ = try CopyPlan(from: source, to: target)
            return nil
        } catch { return error.code }
    }

    @Test func `every table is copied, except those that the plan lists as exceptions`() async throws {
        let store = try await CopiedStore()
        let postgres = try PostgresUnderTest.create()
        defer { postgres.remove() }
        let source = try store.tables().tables()
        let tables = try postgres.execute(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'merchantkeyd'::regnamespace")
        let names = Set(tables.split(separator: "\n").map(String.init))
        let copied = Set(try CopyPlan(from: source, to: source).tables.map(\.name))
        #expect(Set(source.map(\.name)).subtracting(copied) == ["migrations"])
        #expect(names.subtracting(copied) == Set(CopyPlan.exceptions.keys).subtracting([UnfinishedCopyMark.table]))
    }

    @Test func `a table comes after the tables to which it refers`() throws {
        let tables = [
            Self.table("a", references: ["c"]), Self.table("b"), Self.table("c", references: ["b", "c"]),
        ]
        #expect(try CopyPlan(from: tables, to: tables).tables.map(\.name) == ["b", "c", "a"])
    }

    @Test func `schemas that differ or cannot be copied are refused`() {
        let known = Self.table("a")
        #expect(Self.refusal([known], [known]) == nil)
        #expect(Self.refusal([known, Self.table("b")], [known]) == .internalError)
        #expect(Self.refusal([known], [known, Self.table("b")]) == .internalError)
        #expect(Self.refusal([known], [Self.table("a", kind: .text)]) == .internalError)
        let withoutKey = Self.table("a", key: [])
        #expect(Self.refusal([withoutKey], [withoutKey]) == .internalError)
        let unknown = Self.table("a", kind: .other("uuid"))
        #expect(Self.refusal([unknown], [unknown]) == .internalError)
        let cycle = [Self.table("a", references: ["b"]), Self.table("b", references: ["a"])]
        #expect(Self.refusal(cycle, cycle) == .internalError)
    }

    /// A table with two columns and one row.
    private struct OneRow: TableReading {
        static let table = CopiedTable(
            name: "t", columns: [CopiedColumn(name: "a", kind: .text), CopiedColumn(name: "b", kind: .text)],
            key: ["a"], references: [])
        let row: CopiedRow

        func tables() -> [CopiedTable] { [Self.table] }
        func rows(of table: CopiedTable, after key: CopiedRow?, limit: Int) -> [CopiedRow] { key == nil ? [row] : [] }
        func lastKey(of table: CopiedTable) -> CopiedRow? { table.key(of: row) }
        func assignedNumbers() -> [String: Int64] { [:] }
    }

    @Test func `values with different bytes have different digests`() throws {
        let rows: [CopiedRow] = [
            [.text("a"), .text("b")], [.text("ab"), .text("")], [.text("a"), nil], [.text("a"), .bytes([0x62])],
            [.text("a"), .integer(0x62)], [.text("a"), .integer(0)],
            // The same letter for a reader, as one and as two Unicode scalars.
            [.text("a"), .text("\u{E9}")], [.text("a"), .text("e\u{301}")],
        ]
        let digests = try rows.map { try TableDigest(of: OneRow.table, in: OneRow(row: $0)) }
        #expect(Set(digests.map(\.sha256)).count == rows.count)
        #expect(digests.allSatisfy { $0.rows == 1 })
    }
}
