import StrictJSON
import Testing

@Suite struct JSONFieldsTests {
    func fields(_ text: String) throws -> JSONFields { try JSONFields(parsing: Array(text.utf8)) }

    @Test func `an unknown field is refused, and the error names it`() throws {
        var fields = try fields(#"{"name":"n","nmae":1}"#)
        #expect(try fields.string("name") == "n")
        let fault = #expect(throws: JSONFault.self) { try fields.refuseUnknown() }
        #expect(fault?.description == "unknown field 'nmae', expected only 'name'")
    }

    @Test func `the error about a wrong type names the field, the found and the expected type`() throws {
        var fields = try fields(#"{"a":{"b":1}}"#)
        var inner = try #require(try fields.fields("a"))
        let fault = #expect(throws: JSONFault.self) { try inner.string("b") }
        #expect(fault?.description == "'a.b' is a number, expected a string")
        #expect(throws: JSONFault("'c' is missing, expected a string")) { try fields.requiredString("c") }
    }

    @Test func `only an object has fields`() {
        #expect(throws: JSONFault("found an array, expected a JSON object")) { try fields("[]") }
    }
}
