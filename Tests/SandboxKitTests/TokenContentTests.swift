import Foundation
import MerchantTestSupport
import SandboxKit
import Testing
import Vocabulary

@Suite(.enabled(if: Programs.hasOpenSSL, "openssl is not installed"))
struct TokenContentTests {
    let fixture: SandboxFixture

    init() throws { fixture = try SandboxFixture() }

    private func plaintext(_ token: MintedToken) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(token.plaintext.utf8)) as? [String: Any])
    }

    @Test(
        "The plaintext has Apple's keys in Apple's order; the amount is a number and the currency keeps leading zeros")
    func threeDSecure() throws {
        let token = try fixture.authority.mintToken(
            fixture.parameters {
                $0.amount = 4200
                $0.currency = "036"
            }, certificate: fixture.certificate(.ec))
        let expected = try Regex(
            #"""
            ^\{"applicationPrimaryAccountNumber":"4111111111111111","applicationExpirationDate":"\d{2}1231",\#
            "currencyCode":"036","transactionAmount":4200,"deviceManufacturerIdentifier":"[0-9]{12}",\#
            "paymentDataType":"3DSecure","paymentData":\{"onlinePaymentCryptogram":"[^"]{28}",\#
            "eciIndicator":"7"\}\}$
            """#)
        #expect(token.plaintext.contains(expected))
    }

    @Test("An EMV token contains emvData, and a PIN only in RSA_v1", arguments: SandboxFixture.Key.allCases)
    func emv(key: SandboxFixture.Key) throws {
        let token = try fixture.authority.mintToken(
            fixture.parameters { $0.dataType = .emv }, certificate: fixture.certificate(key))
        let plaintext = try plaintext(token)
        #expect(plaintext["paymentDataType"] as? String == "EMV")
        let data = try #require(plaintext["paymentData"] as? [String: String])
        #expect(Set(data.keys) == (key == .ec ? ["emvData"] : ["emvData", "encryptedPINData"]))
    }

    @Test("A token can contain authentication responses, a merchantTokenIdentifier and merchantTokenMetadata")
    func authenticationResponses() throws {
        let other = try #require(MerchantIdentifier("merchant.com.example.other"))
        let token = try fixture.authority.mintToken(
            fixture.parameters {
                $0.authenticationResponses = [.init(merchant: other, amount: 250)]
                $0.merchantTokenIdentifier = "DAPLMC0000"
                $0.hasMerchantTokenMetadata = true
            }, certificate: fixture.certificate(.ec))
        let plaintext = try plaintext(token)
        let responses = try #require(plaintext["authenticationResponses"] as? [[String: String]])
        #expect(responses.first?["merchantIdentifier"] == other.rawValue)
        #expect(responses.first?["transactionAmount"] == "250")
        #expect(plaintext["merchantTokenIdentifier"] as? String == "DAPLMC0000")
        let metadata = try #require(plaintext["merchantTokenMetadata"] as? [String: Any])
        #expect((metadata["cardMetadata"] as? [String: String])?["fpanSuffix"] == "1111")
        #expect((metadata["cardArt"] as? [[String: String]])?.first?["type"] == "image/png")
    }

    @Test("The header contains the key hash and the transactionId; the outer transactionIdentifier is in upper case")
    func header() throws {
        let minted = try fixture.authority.mintToken(
            fixture.parameters { $0.applicationData = Array("abc".utf8) }, certificate: fixture.certificate(.rsa))
        let token = try ParsedToken(minted.json)
        #expect(token.paymentData["version"] as? String == "RSA_v1")
        #expect(Set(token.header.keys) == ["publicKeyHash", "wrappedKey", "transactionId", "applicationData"])
        #expect(token.header["transactionId"] == minted.transactionIdentifier)
        #expect(token.outer["transactionIdentifier"] as? String == minted.transactionIdentifier.uppercased())
        // SHA-256 of "abc", FIPS 180-4's first example.
        #expect(
            token.header["applicationData"] == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        let publicKey = try Programs.run([
            "sh", "-c", "openssl pkey -in \"$0\" -pubout -outform DER | openssl dgst -sha256 -binary | base64",
            fixture.scratch.path("rsa.key.pem"),
        ]).output
        #expect(token.header["publicKeyHash"] == publicKey.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    @Test("Each token has its own transactionId and key material")
    func fresh() throws {
        let certificate = try fixture.certificate(.ec)
        let tokens = try (0..<8).map { _ in
            try ParsedToken(fixture.authority.mintToken(fixture.parameters(), certificate: certificate).json)
        }
        #expect(Set(tokens.map { $0.header["transactionId"] }).count == 8)
        #expect(Set(tokens.map { $0.header["ephemeralPublicKey"] }).count == 8)
    }

    @Test("A certificate that is not a payment processing certificate is rejected")
    func wrongCertificate() throws {
        let identity = try fixture.certificate(.rsa, purpose: .identity)
        let root = Array(try fixture.authority.rootCertificate.utf8)
        for certificate in [identity, root, [], [0x30, 0x00], Array("hello".utf8)] {
            #expect(throws: SandboxError.self) {
                try fixture.authority.mintToken(fixture.parameters(), certificate: certificate)
            }
        }
    }

    @Test("Invalid token parameters are rejected")
    func invalidParameters() throws {
        let ec = try fixture.certificate(.ec)
        let rsa = try fixture.certificate(.rsa)
        let parameters = [
            fixture.parameters { $0.amount = 1_000_000_000_000 }, fixture.parameters { $0.currency = "84" },
            fixture.parameters { $0.currency = "usd" },
        ]
        for parameters in parameters {
            #expect(throws: SandboxError.self) { try fixture.authority.mintToken(parameters, certificate: ec) }
        }
        let secret = fixture.parameters { $0.secretBeginsWithZero = true }
        #expect(throws: SandboxError.self) { try fixture.authority.mintToken(secret, certificate: rsa) }
    }
}
