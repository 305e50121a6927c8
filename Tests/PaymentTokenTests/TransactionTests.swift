import Crypto
import FoundationEssentials
import PaymentToken
import Testing

@Suite("Comparing a token with the expected transaction")
struct TransactionTests {
    private func outcomes(
        _ expected: ExpectedTransaction, applicationData: String? = nil, plaintext: String = TestMint.plaintext
    ) throws -> [TokenVerification.Outcome] {
        let token = try TestMint(plaintext: plaintext, applicationData: applicationData).token()
        let data = try token.decrypt(with: TestMint.restoredKey(of: token)).paymentData()
        let checks = expected.compare(with: token, data)
        #expect(checks.map(\.name) == [.currencyCode, .transactionAmount, .applicationData])
        return checks.map(\.outcome)
    }

    @Test("Fields without an expected value are not checked")
    func nothing() throws {
        #expect(try outcomes(ExpectedTransaction()) == [.notChecked, .notChecked, .notChecked])
    }

    @Test("Equal currency, amount and applicationData pass; an amount may be a number or a string")
    func agrees() throws {
        for plaintext in [TestMint.plaintext, TestMint.plaintext.replacing(":100,", with: ":\"100\",")] {
            for isString in [true, false] {
                let expected = ExpectedTransaction(
                    currencyCode: "840", transactionAmount: TransactionAmount(text: "100", isString: isString),
                    applicationData: Array("order 4711".utf8))
                let found = try outcomes(expected, applicationData: "order 4711", plaintext: plaintext)
                #expect(found == [.passed, .passed, .passed])
            }
        }
    }

    @Test("Each field that differs fails")
    func differs() throws {
        let expected = ExpectedTransaction(
            currencyCode: "978", transactionAmount: TransactionAmount(text: "1000", isString: false),
            applicationData: Array("order 4712".utf8))
        #expect(try outcomes(expected, applicationData: "order 4711") == [.failed, .failed, .failed])
    }

    @Test("Missing applicationData fails; applicationData without an expected value is not checked")
    func applicationData() throws {
        let expected = ExpectedTransaction(applicationData: Array("order 4711".utf8))
        #expect(try outcomes(expected).last == .failed)
        #expect(try outcomes(ExpectedTransaction(), applicationData: "order 4711").last == .notChecked)
    }

    @Test("The description of a check contains neither value")
    func redacted() {
        let check = TransactionCheck(.currencyCode, found: "840", expected: "978")
        #expect(!"\(check)".contains("840") && !"\(check)".contains("978"))
        #expect(check.found?.unredacted == "840")
    }

    @Test("Payment data maps to the authorization fields of each network")
    func authorization() throws {
        let token = try TestMint().token()
        let data = try token.decrypt(with: TestMint.restoredKey(of: token)).paymentData()
        let general = try #require(data.authorizationFields(for: .general))
        #expect(general.cryptogram == data.proof.onlinePaymentCryptogram)
        #expect(general.electronicCommerceIndicator == "7")
        #expect(general.tokenBlockA == nil)
        let amex = try #require(data.authorizationFields(for: .americanExpress))
        #expect(amex.tokenBlockA == data.proof.onlinePaymentCryptogram)
        #expect(amex.tokenBlockB?.unredacted == Data(count: 20).base64EncodedString())
        #expect(amex.tokenRequestorID == "040010030273")
        #expect(amex.cryptogram == nil)
    }
}
