import AdminCommands
import Testing
import WireAPI

@Suite("An import's file") struct RegistrationFileTests {
    private func fields(_ text: String) throws -> [[String]] {
        try CSVText.records(of: Array(text.utf8)).map(\.fields)
    }

    @Test(
        "RFC 4180 is read to the letter",
        arguments: [
            ("a,b\nc,d\n", [["a", "b"], ["c", "d"]]), ("a,b\r\nc,d", [["a", "b"], ["c", "d"]]),
            ("\"a,b\",\"c\"\"d\"\n", [["a,b", "c\"d"]]), ("\"a\nb\",c\n", [["a\nb", "c"]]),
            ("a,\n,b\n", [["a", ""], ["", "b"]]),
            ("\"\"\n", [[""]]), ("a\n\n\r\nb\n", [["a"], ["b"]]), ("", []), ("\n", []),
            ("\u{FEFF}a,ü\n", [["a", "ü"]]),
        ])
    func read(text: String, expected: [[String]]) throws {
        #expect(try fields(text) == expected)
    }

    @Test(
        "what is cut off or quoted wrongly is refused with its line",
        arguments: [
            ("a\n\"b", 2), ("a\n\"b\nc", 2), ("a\nb\"c\n", 2), ("a\n\"b\"c\n", 2), ("a\rb\n", 1), ("a\u{0}b", 1),
        ])
    func refused(text: String, line: Int) {
        let fault = #expect(throws: CSVText.Fault.self) { try fields(text) }
        #expect(fault?.line == line)
    }

    @Test("bytes that are not UTF-8 are refused")
    func notText() {
        #expect(throws: CSVText.Fault.self) { try CSVText.records(of: [0x61, 0xFF, 0x0A]) }
    }

    @Test("what is written is read again, on one line")
    func written() throws {
        let values = ["plain", "a,b", "say \"x\"", "", "two\nlines", "ü"]
        let line = CSVText.line(values)
        #expect(line.filter { $0 == "\n" }.count == 1)
        #expect(try fields(line) == [["plain", "a,b", "say \"x\"", "", "two lines", "ü"]])
    }

    private func rows(_ text: String) throws -> [ImportRow] {
        try ImportRow.rows(of: CSVText.records(of: Array(text.utf8)))
    }

    @Test("columns are found by name in any order, and a report's own are passed over")
    func columns() throws {
        let rows = try rows(
            """
            domainNames,result,partnerMerchantName,partnerInternalMerchantIdentifier,encryptTo
            "a.example; b.example  c.example",done,Shop,shop|1,
            """)
        let request = try #require(rows.first).request
        #expect(request.partnerInternalMerchantIdentifier == "shop|1" && request.partnerMerchantName == "Shop")
        #expect(request.domainNames == ["a.example", "b.example", "c.example"])
        #expect(request.encryptTo == nil && request.merchantUrl == nil && rows[0].line == 2)
    }

    @Test(
        "a header that lacks a column, has a strange one or has one twice is refused, and so is a line of another length",
        arguments: [
            "", "partnerInternalMerchantIdentifier,partnerMerchantName\n",
            "partnerInternalMerchantIdentifier,partnerMerchantName,domainNames,colour\n",
            "partnerInternalMerchantIdentifier,partnerMerchantName,domainNames,domainNames\n",
            "partnerInternalMerchantIdentifier,partnerMerchantName,domainNames\nshop-1,Shop\n",
        ])
    func badHeaders(text: String) {
        #expect(throws: CSVText.Fault.self) { try rows(text) }
    }
}
