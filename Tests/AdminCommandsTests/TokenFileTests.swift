import AdminCommands
import PaymentToken
import Testing
import Vocabulary

@Suite("Payment token files")
struct TokenFileTests {
    @Test(
        "A token file has the paymentData, the token or the whole payment",
        arguments: [
            Samples.paymentData, #"{"paymentData":\#(Samples.paymentData),"transactionIdentifier":"0A0B"}"#,
            #" {"token":{"paymentMethod":{},"paymentData":\#(Samples.paymentData)}} "#,
        ])
    func shapes(text: String) throws {
        let file = try TokenFile(Array(text.utf8))
        #expect(String(decoding: file.json, as: UTF8.self) == Samples.paymentData)
    }

    @Test(
        "A file without a token is refused",
        arguments: ["", "[]", "{}", #"{"paymentData":"x"}"#, #"{"token":{}}"#, "{\"a\":1,\"a\":2}", "not json"])
    func noTokens(text: String) {
        #expect(throws: CommandFailure.self) { try TokenFile(Array(text.utf8)) }
    }

    @Test("The inspection without a key reads only the token's own fields")
    func inspection() throws {
        let inspection = try TokenFile(Array(Samples.paymentData.utf8)).token().inspection()
        #expect(inspection.publicKeyHash == Samples.hash)
        #expect(inspection.transactionId == Samples.transactionId)
        #expect(inspection.keyMaterialLength == 91)
        #expect(inspection.ciphertextLength == 4)
        #expect(inspection.signatureLength == 2)
        #expect(inspection.applicationDataHash == nil && inspection.environment == nil)
    }

    @Test(
        "The error names the invalid field",
        arguments: [
            (Samples.hash, "AA==", "header.publicKeyHash"), (#""version":"EC_v1""#, #""Version":"EC_v1""#, "version"),
            ("EC_v1", "EC_v2", "EC_v2"), (#""data":"AAEC"#, #""data":"AA?C"#, "data"),
            (Samples.transactionId, "0a", "header.transactionId"),
            (#"{"data""#, #"{"transactionIdentifier":"0b","data""#, "transactionIdentifier"),
        ])
    func wrongField(found: String, replacement: String, name: String) throws {
        let text = Samples.paymentData.replacing(found, with: replacement)
        #expect(text != Samples.paymentData)
        let failure = #expect(throws: CommandFailure.self) { try TokenFile(Array(text.utf8)).token() }
        #expect(failure?.message.contains("'\(name)'") == true, "\(failure?.message ?? "")")
    }
}

@Suite("status --check")
struct StatusCheckTests {
    @Test(
        "The most urgent finding determines the exit status",
        arguments: [
            ([], 0, "OK"), (["notice"], 0, "OK"), (["notice", "warning"], 1, "WARNING"),
            (["warning", "critical", "new"], 2, "CRITICAL"), (["new", "warning"], 3, "UNKNOWN"),
        ] as [([String], Int32, String)])
    func worst(severities: [String], status: Int32, word: String) {
        let check = StatusCheck(Samples.status(severities))
        #expect(check.status == status)
        #expect(check.line.hasPrefix("merchantkeyd \(word): 3 merchants, 2 below target, 6 active key pairs"))
    }

    @Test("The line names the subjects of the most urgent findings, and notices only if no finding is more urgent")
    func subjects() {
        func words(_ severities: [String]) -> String {
            String(StatusCheck(Samples.status(severities)).line.split(separator: "key pairs", maxSplits: 1).last ?? "")
        }
        #expect(words(["notice", "notice"]) == ": 7 subjects of notice")
        #expect(words(["critical", "warning", "notice"]) == ": 7 subjects of critical; 7 subjects of warning")
        let many = words(["critical", "critical", "warning", "warning", "notice"])
        #expect(many.hasSuffix("7 subjects of warning; more in 'merchantkeyctl status'"))
        #expect(many.count(where: { $0 == "7" }) == 3)
    }
}
