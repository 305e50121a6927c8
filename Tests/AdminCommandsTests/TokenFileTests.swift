import AdminCommands
import Testing
import Vocabulary

@Suite("Payment token files")
struct TokenFileTests {
    @Test(
        "A token's file holds the paymentData, the token or the whole payment",
        arguments: [
            Samples.paymentData, #"{"paymentData":\#(Samples.paymentData),"transactionIdentifier":"0A0B"}"#,
            #" {"token":{"paymentMethod":{},"paymentData":\#(Samples.paymentData)}} "#,
        ])
    func shapes(text: String) throws {
        let file = try TokenFile(Array(text.utf8))
        #expect(String(decoding: file.json, as: UTF8.self) == Samples.paymentData)
    }

    @Test(
        "What holds no token is refused",
        arguments: ["", "[]", "{}", #"{"paymentData":"x"}"#, #"{"token":{}}"#, "{\"a\":1,\"a\":2}", "not json"])
    func noTokens(text: String) {
        #expect(throws: CommandFailure.self) { try TokenFile(Array(text.utf8)) }
    }

    @Test("A summary has the sizes of what is decoded")
    func summary() throws {
        let summary = try TokenSummary(try TokenFile(Array(Samples.paymentData.utf8)).paymentData)
        #expect(summary.publicKeyHash.base64 == Samples.hash)
        #expect(summary.sizes == ["data": 3, "signature": 2, "ephemeralPublicKey": 1])
        #expect(summary.applicationData == nil)
    }

    @Test(
        "A wrong field is named",
        arguments: [
            (
                #"{"data":"AAEC","version":"EC_v1","header":{"publicKeyHash":"AA==","transactionId":"0a"}}"#,
                "header.publicKeyHash"
            ),
            (#"{"data":"AAEC","header":{"publicKeyHash":"\#(Samples.hash)","transactionId":"0a"}}"#, "version"),
            (
                #"{"data":"?","version":"EC_v1","header":{"publicKeyHash":"\#(Samples.hash)","transactionId":"0a"}}"#,
                "data"
            ),
        ])
    func wrongField(text: String, name: String) throws {
        let failure = #expect(throws: CommandFailure.self) {
            try TokenSummary(try TokenFile(Array(text.utf8)).paymentData)
        }
        #expect(failure?.message.contains("'\(name)'") == true)
    }
}

@Suite("status --check")
struct StatusCheckTests {
    @Test(
        "The worst finding decides",
        arguments: [
            ([], 0, "OK"), (["notice"], 0, "OK"), (["notice", "warning"], 1, "WARNING"),
            (["warning", "critical", "new"], 2, "CRITICAL"), (["new", "warning"], 3, "UNKNOWN"),
        ] as [([String], Int32, String)])
    func worst(severities: [String], status: Int32, word: String) {
        let check = StatusCheck(Samples.status(severities))
        #expect(check.status == status)
        #expect(
            check.line.hasPrefix("merchantkeyd \(word): 3 merchants, 6 active key pairs, \(severities.count) findings"))
    }
}
