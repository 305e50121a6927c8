import StrictJSON
import Testing

@Suite("Writing JSON")
struct JSONTextTests {
    @Test("characters that control a terminal are escaped, and parse to the same text")
    func control() throws {
        let value = JSONValue.string("\u{1B}\u{7F}\u{9B}\"\\\n/é")
        #expect(JSONText.compact(value) == #""\u001b\u007f\u009b\"\\\n/é""#)
        #expect(try JSONParser.parse(Array(JSONText.compact(value).utf8)) == value)
    }

    @Test("JSON is written with sorted names and unchanged digits")
    func pretty() throws {
        let value = try JSONParser.parse(Array(#"{"b":[1.50,{}],"a":{"z":null,"y":[]}}"#.utf8))
        #expect(
            JSONText.pretty(value) == """
                {
                  "a": {
                    "y": [],
                    "z": null
                  },
                  "b": [
                    1.50,
                    {}
                  ]
                }
                """)
        #expect(JSONText.compact(value) == #"{"b":[1.50,{}],"a":{"z":null,"y":[]}}"#)
    }
}
