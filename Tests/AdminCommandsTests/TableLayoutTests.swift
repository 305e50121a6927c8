import AdminCommands
import Testing
import WireAPI

/// `--columns`, and tables on a narrow terminal.
@Suite struct TableLayoutTests {
    private static let headings = ["PUBLIC KEY HASH", "STATE", "VALID TO (UTC)", "LAST USE (UTC)", "MERCHANT"]
    private static let rows: [[Cell]] = [
        [
            "aXryfzzhfHFLCl+guEkcYpVd1R+mPYEmmeu1N4aR2Ls=", "current", "2028-12-20 00:00", "2026-11-21 04:53",
            "merchant.com.example",
        ]
    ]

    private static func lines(_ layout: TableLayout, details: [String] = ["LAST USE (UTC)"]) -> [String] {
        layout.arranged(headings, rows, details: details).render(.plain).split(separator: "\n").map(String.init)
    }

    @Test func `without a limit a table has every column in its whole width`() {
        let lines = Self.lines(.wide)
        #expect(
            lines[0].contains("LAST USE (UTC)") && lines[1].hasPrefix("aXryfzzhfHFLCl+guEkcYpVd1R+mPYEmmeu1N4aR2Ls="))
    }

    @Test(arguments: [60, 80, 100])
    func `a table fits the terminal: details are omitted first, then texts are shortened`(width: Int) {
        let lines = Self.lines(TableLayout(columns: nil, width: width))
        #expect(lines.allSatisfy { $0.count <= width }, "\(lines)")
        #expect(!lines[0].contains("LAST USE") && lines[1].hasSuffix("merchant.com.example"))
        // The shortened hash is a KEY argument: at least 4 characters, and the mark of the omission.
        let hash = lines[1].prefix { $0 != " " }
        #expect(width == 100 ? hash.count == 44 : hash.hasSuffix("…") && hash.count > 4, "\(lines)")
    }

    @Test func `a table that fits keeps its details`() {
        #expect(Self.lines(TableLayout(columns: nil, width: 200)) == Self.lines(.wide))
    }

    @Test func `only the requested columns are shown, in their order`() {
        let lines = Self.lines(TableLayout(columns: ["merchant", "valid-to", "unknown"], width: 20))
        #expect(lines == ["MERCHANT              VALID TO (UTC)", "merchant.com.example  2028-12-20 00:00"])
    }

    @Test func `--columns selects the columns of a list, and -o is --output`() async throws {
        try await FakeDaemon.with({ _ in try .json(Page(items: [Samples.merchant()], nextCursor: nil)) }) {
            program, daemon in
            let list = ["merchant", "list", "--socket", daemon.socketPath]
            let two = try await program.run(list + ["--columns", "active,MERCHANT"])
            #expect(two.output == "ACTIVE  MERCHANT\n1       merchant.com.example\n", "\(two)")
            let unknown = try await program.run(list + ["--columns", "merchant,colour"])
            #expect(unknown.status == 0 && unknown.error.contains("no column 'colour'"), "\(unknown)")
            #expect(try await program.run(list + ["-o", "json"]).output.hasPrefix("{"))
            let (wide, table) = (try await program.run(list + ["-o", "wide"]), try await program.run(list))
            #expect(wide == table, "a pipe is never too narrow")
            #expect(try await program.run(list + ["--columns", "a,,b"]).status == 2)
            let error = try await program.run(["merchant", "show", "x", "-o", "json"])
            #expect(error.status == 2 && error.error.hasPrefix("{"), "\(error)")
        }
    }
}
