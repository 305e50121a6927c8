import AdminCommands
import Testing
import Vocabulary

@Suite("Output")
struct OutputTests {
    @Test("A table's columns are aligned, and no line ends with blanks")
    func table() {
        let block = Block.table(headings: ["NAME", "B", "LAST"], rows: [["a", "bbbb", "c"], ["é", Cell(nil), "dd"]])
        #expect(block.render(.plain) == "NAME  B     LAST\na     bbbb  c\né     -     dd\n")
    }

    @Test("A record omits absent values")
    func record() {
        let block = Block.record([("long name", "x"), ("b", nil), ("c", "y")])
        #expect(block.render(.plain) == "long name  x\nc          y\n")
    }

    @Test("Colours do not move columns")
    func colours() {
        let block = Block.table(headings: ["A", "B"], rows: [[Cell("x", .critical), "y"]])
        #expect(block.render(.colored) == "\u{1B}[1mA\u{1B}[0m  \u{1B}[1mB\u{1B}[0m\n\u{1B}[31mx\u{1B}[0m  y\n")
    }

    @Test(
        "Colours need a terminal that supports them, and an unset or empty NO_COLOR",
        arguments: [
            (true, nil, "xterm", true), (true, "", "xterm", true), (true, "1", "xterm", false),
            (true, nil, "dumb", false), (false, nil, "xterm", false),
        ] as [(Bool, String?, String?, Bool)])
    func choice(isTerminal: Bool, noColor: String?, term: String?, isColored: Bool) {
        let style = Style.choose(isTerminal: isTerminal, noColor: noColor, term: term)
        #expect((style.paint("x", .good) != "x") == isColored)
    }

    @Test("Untrusted text can't control the terminal")
    func control() throws {
        #expect(Cell("a\u{1B}[2Jb\nc\u{202E}d\u{9B}e").text == "a?[2Jb?c?d?e")
    }

    @Test("A time is shown to the minute")
    func time() {
        #expect(Cell(time: "2028-12-20T10:11:12.5Z" as Timestamp).text == "2028-12-20 10:11")
        #expect(Cell(time: nil).text == "-")
    }
}

@Suite("Masking")
struct MaskingTests {
    private static func rows(_ json: String) throws -> [String: String] {
        let fields = try MaskedFields(plaintext: Array(json.utf8))
        return Dictionary(uniqueKeysWithValues: fields.rows.map { ($0.name, $0.value) })
    }

    @Test("An account number is shown by its last four digits, a cryptogram by its length")
    func known() throws {
        let rows = try Self.rows(Samples.plaintext)
        #expect(
            rows == [
                "applicationPrimaryAccountNumber": "************0075", "transactionAmount": "100",
                "paymentData.onlinePaymentCryptogram": "(masked, 28 characters)", "paymentData.eciIndicator": "7",
            ])
    }

    @Test(
        "Every secret field and every unknown field is masked",
        arguments: [
            "emvData", "encryptedPINData", "onlinePaymentCryptogram", "cardholderName", "authenticationData", "new",
        ])
    func secret(name: String) throws {
        for json in [#"{"\#(name)":"s3cret"}"#, #"{"paymentData":{"\#(name)":["s3cret",{"deep":"s3cret"}]}}"#] {
            for value in try Self.rows(json).values { #expect(!value.contains("s3cret")) }
        }
        #expect(try Self.rows(#"{"\#(name)":12345}"#) == [name: "(masked, 5 characters)"])
        #expect(try Self.rows(#"{"\#(name)":true}"#) == [name: "(masked)"])
    }

    @Test("A short account number is masked whole")
    func short() throws {
        #expect(try Self.rows(#"{"applicationPrimaryAccountNumber":"12345678"}"#).values.first == "********")
    }

    @Test("An error quotes nothing of the plaintext")
    func refusal() {
        let failure = #expect(throws: CommandFailure.self) {
            try MaskedFields(plaintext: Array("4784000000380075 x".utf8))
        }
        #expect(failure?.message.contains("4784") == false)
    }

    @Test("Progress counts the items of an earlier run, but not in the rate, and fits the terminal")
    func progress() {
        let state = ProgressBar.State(finished: 10, skipped: 20, failed: 3)
        let line = ProgressBar.line(state, total: 60, after: .seconds(5), columns: 70, .plain)
        #expect(line == "[################................] 30 of 60, 2/s, 15 s left, 3 failed")
        #expect(ProgressBar.line(state, total: nil, after: .zero, columns: 70, .plain) == "30, 0/s, 3 failed")
        #expect(ProgressBar.line(state, total: 60, after: .seconds(5), columns: 30, .plain).first == "3")
    }
}
