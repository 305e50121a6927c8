import AdminCommands
import Foundation
import Testing
import Vocabulary
import WireAPI

@Suite("CSV")
struct CSVTests {
    private static func rows(_ text: String) throws -> [[String]] {
        try CSVReader.rows(Data(text.utf8)).map(\.fields)
    }

    @Test("RFC 4180: quotes, doubled quotes, commas and line ends in quotes, CRLF and LF, a last line without an end")
    func wellFormed() throws {
        #expect(try Self.rows("") == [] && Self.rows("\n") == [] && Self.rows("a,b") == [["a", "b"]])
        #expect(try Self.rows("a,b\r\n1,2\r\n") == [["a", "b"], ["1", "2"]])
        #expect(try Self.rows("a,b\n,\n\"\",x") == [["a", "b"], ["", ""], ["", "x"]])
        #expect(
            try Self.rows("\u{FEFF}a,\"b \"\"c\"\", d\"\n\"e\nf\",g\r\n\n\n") == [["a", "b \"c\", d"], ["e\nf", "g"]])
        #expect(try Self.rows("ä, ö ,日本\n") == [["ä", " ö ", "日本"]])
        #expect(try CSVReader.rows(Data("a\n\"b\nc\"\nd\n".utf8)).map(\.lineNumber) == [1, 2, 4])
        // Data whose first index is not 0.
        #expect(try CSVReader.rows(Data("xxa,b".utf8).dropFirst(2)).map(\.fields) == [["a", "b"]])
    }

    @Test(
        "invalid CSV is refused, naming the line",
        arguments: [
            ("a\n\"b", "line 2 has a quote that is never closed"), ("a\nb\"c\n", "line 2 has a quote inside"),
            ("\"a\"b\n", "line 1 has text after a closing quote"), ("a\nb\rc\n", "line 2 has a carriage return"),
            ("a\r", "line 1 has a carriage return"), ("a\n\nb\n", "line 2 is empty"),
            ("a\n\"b\nc", "line 2 has a quote that"), ("a\u{0}b", "line 1 contains a NUL byte"),
            ("\"\u{0}\"", "line 1 contains a NUL byte"),
            ("\"a\n\"\"\n", "line 1 has a quote that is never closed"),
            (String(repeating: "x", count: 65_537), "line 1 has a field of more than"),
        ])
    func refused(_ text: String, _ expected: String) {
        let fault = #expect(throws: CSVReader.Fault.self) { try Self.rows(text) }
        #expect(fault?.description.hasPrefix(expected) == true, "\(fault?.description ?? "none")")
    }

    @Test("bytes that are not UTF-8 are refused, quoted or not")
    func encoding() {
        for bytes in [Data([0x61, 0x0A, 0xE4]), Data([0x61, 0x0A, 0x22, 0xE4, 0x22])] {
            let fault = #expect(throws: CSVReader.Fault.self) { try CSVReader.rows(bytes) }
            #expect(fault?.description.hasPrefix("line 2 is not UTF-8") == true)
        }
    }

    @Test("fields that are quoted as RFC 4180 requires are read back unchanged")
    func roundTrip() throws {
        var random = SystemRandomNumberGenerator()
        let pieces = ["a", ",", "\"", "\n", "\r\n", " ", "é", "'", ";"]
        for _ in 0..<300 {
            let rows = (0..<Int.random(in: 1...5, using: &random)).map { _ in
                (0..<3).map { _ in (0..<Int.random(in: 0...4)).map { _ in pieces.randomElement() ?? "" }.joined() }
            }
            let text = rows.map { row in
                row.map { "\"\($0.replacing("\"", with: "\"\""))\"" }.joined(separator: ",")
            }.joined(separator: Bool.random() ? "\n" : "\r\n")
            #expect(try Self.rows(text) == rows)
        }
    }

    @Test("a table has no column twice, and each row has one field for each column")
    func table() throws {
        func table(_ text: String) throws -> CSVTable {
            try CSVTable(Data(text.utf8), required: ["id"], optional: ["name"])
        }
        let rows = try table("name,id\nx,1\n,2\n").rows
        #expect(rows.map { $0["id"] } == ["1", "2"] && rows.map { $0["name"] } == ["x", nil])
        for (text, expected) in [
            ("", "the file is empty"), ("name\nx\n", "line 1 has no column 'id'"),
            ("id,id\n", "line 1 has the column 'id' twice"), ("id,ID\n", "line 1 has the unknown column 'ID'"),
            ("id,name\n1\n", "line 2 has 1 field, expected 2"), ("id\n1,2\n", "line 2 has 2 fields, expected 1"),
        ] {
            let fault = #expect(throws: CSVReader.Fault.self) { try table(text) }
            #expect(fault?.description.hasPrefix(expected) == true, "\(fault?.description ?? "none")")
        }
    }

    @Test("a file of merchants with errors is refused as a whole, and every error names its line")
    func merchants() throws {
        let file = try MerchantFile(
            Data("merchantIdentifier,targetActiveKeyPairs,name\nmerchant.a,3,\"A, Inc.\"\nmerchant.b,,\n".utf8),
            named: "m.csv")
        #expect(file.lines.map(\.request.merchantIdentifier) == ["merchant.a", "merchant.b"])
        #expect(file.lines.map(\.request.targetActiveKeyPairs) == [3, nil])
        #expect(file.lines.map(\.request.name) == ["A, Inc.", nil])
        let bad = "merchantIdentifier,targetActiveKeyPairs\nmerchant.a,17\nshop,1\nmerchant.b,x\nmerchant.a,1\n"
        let failure = #expect(throws: CommandFailure.self) { try MerchantFile(Data(bad.utf8), named: "m.csv") }
        let lines = failure?.message.split(separator: "\n").map { $0.prefix(while: { $0 != ":" }) } ?? []
        #expect(lines == ["nothing was imported", "line 2", "line 3", "line 4", "line 5"], "\(failure?.message ?? "")")
        #expect(throws: CommandFailure.self) { try MerchantFile(Data("merchantIdentifier\n".utf8), named: "m.csv") }
    }

    @Test(
        "a file of registrations has its columns in any order, and is refused for a missing or unknown column or value")
    func registrations() throws {
        let required = "partnerInternalMerchantIdentifier,partnerMerchantName,domainNames"
        let file = try RegistrationFile(
            Data(
                """
                domainNames,partnerMerchantName,partnerInternalMerchantIdentifier,encryptTo
                "a.example; b.example  c.example",Shop,shop|1,
                """.utf8), named: "r.csv")
        let request = try #require(file.lines.first).request
        #expect(request.partnerInternalMerchantIdentifier == "shop|1" && request.partnerMerchantName == "Shop")
        #expect(request.domainNames == ["a.example", "b.example", "c.example"])
        #expect(request.encryptTo == nil && request.merchantUrl == nil && file.lines[0].lineNumber == 2)
        for bad in [
            "partnerInternalMerchantIdentifier,partnerMerchantName\nshop-1,Shop\n", "\(required),colour\na,b,c,d\n",
            "\(required),domainNames\na,b,c,d\n", "\(required)\nshop-1,Shop\n", "\(required)\n",
            "\(required)\na/b,Shop,a.example\n", "\(required)\nshop-1,Shop,https://a.example\n",
            "\(required),encryptTo\nshop-1,Shop,a.example,shop\n",
        ] {
            #expect(throws: CommandFailure.self) { try RegistrationFile(Data(bad.utf8), named: "r.csv") }
        }
    }
}
