import Crypto
import FoundationEssentials
import PaymentToken
import Testing

@Suite("Decrypting real tokens", .enabled(if: Fixture.areAvailable, "MERCHANTKEYD_FIXTURES is not set"))
struct FixtureDecryptionTests {
    @Test("A real token decrypts to its exact plaintext", arguments: Fixture.withKeys)
    func decrypt(_ fixture: Fixture) throws {
        let opened = try fixture.token().decrypt(with: fixture.symmetricKey())
        let plaintext = opened.withPlaintext { Data($0) }
        #expect(plaintext == (try fixture.read("expected.json")))
    }

    @Test("The plaintext of a real token parses as payment data", arguments: Fixture.withKeys)
    func typed(_ fixture: Fixture) throws {
        let opened = try fixture.token().decrypt(with: fixture.symmetricKey())
        let data = try opened.paymentData()
        #expect(data.applicationPrimaryAccountNumber.unredacted == "4784000000380075")
        #expect(data.transactionAmount == TransactionAmount(text: "100", isString: false))
        #expect(data.currencyCode == "840")
        #expect(data.paymentDataType == "3DSecure")
        #expect(data.proof.onlinePaymentCryptogram?.unredacted.utf8.count == 28)
        #expect(data.proof.eciIndicator == "7")
        #expect(data.unknownFields.isEmpty)
    }

    @Test("An EC_v1 token cannot be decrypted for another merchant identifier", arguments: Fixture.withKeys.prefix(2))
    func otherMerchant(_ fixture: Fixture) throws {
        let key = try fixture.symmetricKey(merchantIdentifier: "merchant.com.example")
        let error = #expect(throws: PaymentTokenError.self) { _ = try fixture.token().decrypt(with: key) }
        #expect(error?.code == .decryptionFailed)
    }

    @Test("publicKeyHash is the hash of the merchant's SubjectPublicKeyInfo", arguments: Fixture.withKeys)
    func hash(_ fixture: Fixture) throws {
        let key = String(decoding: try fixture.read("key.pem"), as: UTF8.self)
        let spki = try OpenSSL.run(["pkey", "-pubout", "-outform", "DER"], input: Array(key.utf8))
        #expect(try fixture.token().publicKeyHashBase64 == Data(SHA256.hash(data: spki)).base64EncodedString())
    }
}
