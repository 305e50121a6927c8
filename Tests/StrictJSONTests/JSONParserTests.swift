import MerchantTestSupport
import StrictJSON
import Testing

@Suite struct JSONParserTests {
    func parse(_ text: String) throws -> JSONValue { try JSONParser.parse(Array(text.utf8)) }

    @Test func `parsed values keep the order of members, all digits of numbers, and texts`() throws {
        let value = try parse(#" {"b":[1.50,-0,1e9,true,false,null],"a":"\u00e9\ud83d\ude00\n/"} "#)
        #expect(
            value
                == .object(
                    JSONObject(members: [
                        .init(
                            name: "b",
                            value: .array([
                                .number("1.50"), .number("-0"), .number("1e9"), .bool(true), .bool(false), .null,
                            ])), .init(name: "a", value: .string("é😀\n/")),
                    ])))
    }

    @Test(arguments: [
        (#"{"a":1,"a":2}"#, "twice"), (#"{"a":1,"\u0061":2}"#, "twice"), ("{} x", "after the end"), ("", "empty"),
        ("{", "expected"), ("[1,]", "expected"), (#"{"a":1,}"#, "expected"), ("01", "after the end"), ("1.", "digit"),
        ("+1", "expected"), ("nul", "expected"), (#""\ud800""#, "surrogate"), (#""\x""#, "escape"),
        ("\"a\nb\"", "control"),
        ("'a'", "expected"), ("NaN", "expected"), ("{a:1}", "name"),
    ])
    func `ambiguous or invalid JSON is refused, and the error names the cause`(text: String, why: String) {
        let fault = #expect(throws: JSONFault.self) { try parse(text) }
        #expect(fault?.description.contains(why) == true)
    }

    @Test func `bytes that are not UTF-8 are refused`() {
        #expect(throws: JSONFault.self) { try JSONParser.parse([0x22, 0xC3, 0x28, 0x22]) }
        #expect(throws: JSONFault.self) { try JSONParser.parse([0x22, 0x80, 0x22]) }
    }

    @Test func `the depth, the size and the number of values are bounded`() {
        let nested = { String(repeating: "[", count: $0) + String(repeating: "]", count: $0) }
        #expect(throws: Never.self) { try parse(nested(16)) }
        #expect(throws: JSONFault.self) { try parse(nested(17)) }
        #expect(throws: JSONFault.self) { try parse("\"" + String(repeating: "a", count: 65_536) + "\"") }
        #expect(throws: JSONFault.self) { try parse("[" + String(repeating: "1,", count: 4_096) + "1]") }
    }

    @Test func `randomly changed JSON does not crash the parser`() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let start = Array(#"{"paymentData":{"data":"AAAA","header":{"n":[1,2.5e3,null,true]},"t":"é😀"}}"#.utf8)
        for _ in 0..<20_000 {
            var bytes = start
            for _ in 0...Int(random.next() % 4) {
                switch random.next() % 3 {
                case 0: bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
                case 1: bytes.removeSubrange(Int(random.next() % UInt64(bytes.count))...)
                default: bytes.insert(contentsOf: bytes.prefix(9), at: Int(random.next() % UInt64(bytes.count)))
                }
                if bytes.isEmpty { bytes = start }
            }
            // Success and refusal are both correct. A crash would end the run.
            if let value = try? JSONParser.parse(bytes) { #expect(value.kind != "", "seed \(seed)") }
        }
    }
}
