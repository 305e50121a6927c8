import StrictJSON
import Testing

@Suite struct StrictDecoderTests {
    private struct Order: Decodable, Hashable {
        struct Item: Decodable, Hashable {
            let name: String
            var price: Double?
        }

        let number: Int
        var isPaid: Bool?
        var items: [Item]?
        var colour: Colour?
        var sizes: [String: UInt8]?
    }

    private enum Colour: String, Decodable {
        case red, blue

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            guard let colour = Colour(rawValue: try container.decode(String.self)) else {
                throw DecodingError.dataCorruptedError(
                    in: container, debugDescription: "is not a colour, expected red or blue")
            }
            self = colour
        }
    }

    private func order(_ text: String) throws -> Order { try JSONFields(parsing: Array(text.utf8)).decode() }

    @Test func `the error about a nested object that is decoded names the field with its path`() throws {
        var fields = try JSONFields(parsing: Array(#"{"order":{"number":"1"}}"#.utf8))
        let nested = try #require(try fields.fields("order"))
        #expect(throws: JSONFault("'order.number' is a string, expected an integer")) {
            let _: Order = try nested.decode()
        }
        #expect(throws: JSONFault("'order' is an object, expected an array")) { let _: [Int] = try nested.decode() }
    }

    @Test func `an object decodes by name and type`() throws {
        let text = #"{"items":[{"name":"a"},{"price":1.5,"name":"b"}],"number":7,"colour":"blue","sizes":{"s":1}}"#
        let order = try order(text)
        #expect(
            order
                == Order(
                    number: 7, isPaid: nil, items: [.init(name: "a"), .init(name: "b", price: 1.5)], colour: .blue,
                    sizes: ["s": 1]))
    }

    @Test(
        arguments: [
            ("{}", "'number' is missing, expected an integer"),
            (#"{"number":1,"nmuber":2}"#, "unknown field 'nmuber', expected only"),
            (#"{"number":1,"isPaid":null}"#, "'isPaid' is null; give a value, or leave the field out"),
            (#"{"number":null}"#, "'number' is null, expected an integer"),
            (#"{"number":"1"}"#, "'number' is a string, expected an integer"),
            (#"{"number":1.5}"#, "'number' is a number, expected an integer"),
            (#"{"number":99999999999999999999}"#, "'number' is a number, expected an integer"),
            (#"{"number":1,"isPaid":1}"#, "'isPaid' is a number, expected a boolean"),
            (#"{"number":1,"items":{}}"#, "'items' is an object, expected an array"),
            (#"{"number":1,"items":["a"]}"#, "'items' is a string, expected an object"),
            (#"{"number":1,"items":[null]}"#, "'items' is null, expected an object"),
            (
                #"{"number":1,"items":[{"name":"a","size":1}]}"#,
                "unknown field 'items.size', expected only 'name', 'price'"
            ),
            (#"{"number":1,"items":[{}]}"#, "'items.name' is missing, expected a string"),
            (#"{"number":1,"colour":"green"}"#, "'colour' is not a colour, expected red or blue"),
            (#"{"number":1,"colour":7}"#, "'colour' is a number, expected a string"),
            (#"{"number":1,"sizes":{"s":256}}"#, "'sizes.s' is a number, expected an integer"),
            (#"{"number":1,"number":2}"#, "twice"), ("[]", "expected a JSON object"),
        ])
    func `an error names the field, what was found and what was expected`(text: String, reason: String) {
        let fault = #expect(throws: JSONFault.self) { try order(text) }
        #expect(fault?.description.contains(reason) == true, "\(fault?.description ?? "")")
    }

    @Test(
        arguments: [
            ("7", 7), ("7.0", 7), ("7.000", 7), ("70e-1", 7), ("0.7e1", 7), ("7E0", 7), ("7e+2", 700), ("-7.0", -7),
            ("0.0", 0), ("-0.0", 0), ("0e999999999999999999999", 0), ("1200.50e1", 12_005),
            ("9223372036854775807.0", Int.max), ("-9.223372036854775808e18", Int.min),
        ])
    func `a number without a fractional part is an integer in every spelling`(text: String, number: Int) throws {
        #expect(try order("{\"number\":\(text)}").number == number)
        #expect(Int(jsonNumber: text) == number)
    }

    @Test(
        arguments: [
            "7.5", "7e-1", "0.1", "1e19", "9223372036854775808.0", "1e1000000000", "1e99999999999999999999",
            "1e-99999999999999999999", "1.00000000000000000000001",
        ])
    func `a number with a fractional part or beyond the type's range is no integer`(text: String) {
        #expect(throws: JSONFault("'number' is a number, expected an integer")) { try order("{\"number\":\(text)}") }
        #expect(
            UInt8(jsonNumber: "256.0") == nil && UInt8(jsonNumber: "-1.0") == nil && UInt8(jsonNumber: "25.5e1") == 255)
    }

    @Test func `an error quotes no value`() {
        let fault = #expect(throws: JSONFault.self) { try order(#"{"number":"s3cret"}"#) }
        #expect(fault?.description.contains("s3cret") == false)
    }
}
