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

    @Test func `null is refused, and counts as absent only where null is accepted`() throws {
        let text = #"{"a":null,"b":{"c":null},"d":1}"#
        var strict = try fields(text)
        #expect(throws: JSONFault("'a' is null; give a value, or leave the field out")) { try strict.bool("a") }
        var inner = try #require(try strict.fields("b"))
        #expect(throws: JSONFault("'b.c' is null; give a value, or leave the field out")) { try inner.string("c") }
        var lenient = try fields(text).acceptingNull()
        #expect(try lenient.bool("a") == nil)
        var lenientInner = try #require(try lenient.fields("b"))
        #expect(try lenientInner.string("c") == nil)
        #expect(lenient.unknown.map(\.name) == ["d"])
    }

    @Test func `only an object has fields`() {
        #expect(throws: JSONFault("found an array, expected a JSON object")) { try fields("[]") }
    }
}
