import FoundationEssentials
import PaymentToken
import Testing

@Suite("Payment data")
struct PaymentDataTests {
    private func open(_ plaintext: String, version: ApplePayToken.Version = .ecV1) throws -> PaymentData {
        let token = try TestMint(version: version, plaintext: plaintext).token()
        return try token.decrypt(with: TestMint.restoredKey(of: token)).paymentData()
    }

    /// An EMV payment with every key of Apple's reference for EMV, and unknown keys in several objects.
    static let complete =
        #"{"applicationPrimaryAccountNumber":"370295136149943","applicationExpirationDate":"290228","#
        + #""currencyCode":"036","transactionAmount":"10000","cardholderName":"Ada Lovelace","#
        + #""deviceManufacturerIdentifier":"030010030273","paymentDataType":"EMV","#
        + #""paymentData":{"emvData":"nyYIAQ==","encryptedPINData":"0a0b0c","newProof":{"a":[1.50,"é\"\u0001"]}},"#
        + #""authenticationResponses":[{"merchantIdentifier":"merchant.one","authenticationData":"Q1JZUFRP","#
        + #""transactionAmount":"2500","newShare":null},{"merchantIdentifier":"merchant.two","#
        + #""authenticationData":"R1JBTQ==","transactionAmount":"7500"}],"#
        + #""merchantTokenIdentifier":"DAPLMC00001","merchantTokenMetadata":{"cardArt":[{"name":"front","#
        + #""type":"image/png","url":"https://example.com/a"}],"cardMetadata":{"cardCountry":"AU","#
        + #""expirationDate":"02/29","fpanSuffix":"9943","longDescription":"A long name","#
        + #""shortDescription":"A name","newCard":true},"newMetadata":0},"newField":"4784000000380075"}"#

    @Test("Every key of Apple's reference for an EMV payment is parsed")
    func everyKey() throws {
        let data = try open(Self.complete, version: .rsaV1)
        #expect(data.applicationPrimaryAccountNumber.unredacted == "370295136149943")
        #expect(data.currencyCode == "036")
        #expect(data.transactionAmount == TransactionAmount(text: "10000", isString: true))
        #expect(data.cardholderName?.unredacted == "Ada Lovelace")
        #expect(data.paymentDataType == "EMV")
        #expect(data.proof.emvData?.unredacted == "nyYIAQ==")
        #expect(data.proof.encryptedPINData?.unredacted == "0a0b0c")
        #expect(data.proof.onlinePaymentCryptogram == nil)
        #expect(data.authenticationResponses.map(\.merchantIdentifier) == ["merchant.one", "merchant.two"])
        #expect(data.authenticationResponses.map(\.transactionAmount.minorUnits) == [2500, 7500])
        #expect(data.authenticationResponses[0].authenticationData.unredacted == "Q1JZUFRP")
        #expect(data.merchantTokenIdentifier == "DAPLMC00001")
        #expect(data.merchantTokenMetadata?.cardArt.first?.url == "https://example.com/a")
        #expect(data.merchantTokenMetadata?.cardMetadata?.fpanSuffix == "9943")
    }

    @Test("Unknown fields are kept, with numbers as sent")
    func unknownFields() throws {
        let data = try open(Self.complete)
        #expect(data.unknownFields.map(\.name) == ["newField"])
        #expect(data.unknownFields[0].json.unredacted == #""4784000000380075""#)
        #expect(data.proof.unknownFields[0].json.unredacted == #"{"a":[1.50,"é\"\u0001"]}"#)
        #expect(data.authenticationResponses[0].unknownFields[0].json.unredacted == "null")
        #expect(data.merchantTokenMetadata?.unknownFields.map(\.name) == ["newMetadata"])
        #expect(data.merchantTokenMetadata?.cardMetadata?.unknownFields.map(\.name) == ["newCard"])
    }

    @Test(
        "An amount is kept exactly as sent",
        arguments: [
            ("100", Int64?.some(100)), ("\"0100\"", 100), ("1.0", nil), ("1e2", nil), ("-1", nil),
            ("12345678901234567890", nil),
        ])
    func amount(_ sent: String, _ minorUnits: Int64?) throws {
        let json = TestMint.plaintext.replacing(#""transactionAmount":100"#, with: #""transactionAmount":\#(sent)"#)
        let amount = try open(json).transactionAmount
        #expect(amount.text == sent.replacing("\"", with: ""))
        #expect(amount.isString == sent.hasPrefix("\""))
        #expect(amount.minorUnits == minorUnits)
    }

    @Test("Printing and reflecting payment data shows no value")
    func redacted() throws {
        let data = try open(Self.complete)
        var dumped = ""
        dump(data, to: &dumped)
        dump(data.authenticationResponses, to: &dumped)
        dump(data.proof, to: &dumped)
        dump(data.unknownFields, to: &dumped)
        dump(data.merchantTokenMetadata, to: &dumped)
        dump(data.authorizationFields(for: .americanExpress), to: &dumped)
        for text in [dumped, "\(data)", String(reflecting: data), "\(data.proof)", "\(data.unknownFields)"] {
            for secret in [
                "370295136149943", "Lovelace", "nyYIAQ", "0a0b0c", "Q1JZUFRP", "4784000000380075", "9943", "2500",
            ] {
                #expect(!text.contains(secret))
            }
        }
    }

    @Test("Masked fields hide cryptograms and names, and show at most the first 6 and last 4 digits of account numbers")
    func masked() throws {
        let complete = try open(Self.complete).maskedFields
        let simple = try open(TestMint.plaintext).maskedFields
        #expect(complete.contains { $0.name == "applicationPrimaryAccountNumber" && $0.value == "370295*****9943" })
        #expect(simple.contains { $0.name == "applicationPrimaryAccountNumber" && $0.value == "478400******0075" })
        #expect(simple.contains { $0.name == "paymentData.onlinePaymentCryptogram" && $0.value == "(28 characters)" })
        #expect(complete.contains { $0.name == "authenticationResponses[1].authenticationData" })
        let values = complete.map(\.value).joined(separator: " ")
        for secret in ["370295136149943", "Lovelace", "nyYIAQ", "0a0b0c", "Q1JZUFRP", "4784000000380075"] {
            #expect(!values.contains(secret))
        }
    }

    @Test(
        "Invalid payment data is rejected with an error that names a field and contains no value",
        arguments: [
            (#""applicationPrimaryAccountNumber":"4784000000380075""#, #""applicationPrimaryAccountNumber":"4784-x""#),
            (#""applicationExpirationDate":"290228""#, #""applicationExpirationDate":"0229""#),
            (#""currencyCode":"840""#, #""currencyCode":840"#),
            (#""transactionAmount":100"#, #""transactionAmount":{}"#),
            (#""paymentData":{"#, #""paymentdata":{"#),
            (#""deviceManufacturerIdentifier""#, #""device""#),
            (#""eciIndicator":"7""#, #""eciIndicator":7"#),
            (#"{"applicationPrimary"#, #"{"authenticationResponses":{},"applicationPrimary"#),
            (#"{"applicationPrimary"#, #"{"currencyCode":"840","applicationPrimary"#),
        ])
    func invalid(_ found: String, _ replacement: String) throws {
        #expect(TestMint.plaintext.contains(found))
        let error = #expect(throws: PaymentTokenError.self) {
            _ = try open(TestMint.plaintext.replacing(found, with: replacement))
        }
        #expect(error?.code == .plaintextMalformed)
        #expect(error?.detail.contains("'") == true)
        #expect(error?.detail.contains("4784") == false)
    }
}
