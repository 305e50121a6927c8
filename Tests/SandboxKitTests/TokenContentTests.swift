import Foundation
import SandboxKit
import Testing
import Vocabulary

@Suite(.enabled(if: Programs.hasOpenSSL, "openssl is not installed"))
struct TokenContentTests {
    let bench: Bench

    init() throws { bench = try Bench() }

    private func plaintext(_ token: MintedToken) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(token.plaintext.utf8)) as? [String: Any])
    }

    @Test("the plaintext has Apple's keys in Apple's order, the amount a number, the currency with its zeros")
    func threeDSecure() throws {
        let token = try bench.authority.mintToken(
            bench.order {
                $0.amount = 4200
                $0.currency = "036"
            }, certificate: bench.certificate(.ec))
        let expected = try Regex(
            #"""
            ^\{"applicationPrimaryAccountNumber":"4111111111111111","applicationExpirationDate":"\d{2}1231",\#
            "currencyCode":"036","transactionAmount":4200,"deviceManufacturerIdentifier":"[0-9]{12}",\#
            "paymentDataType":"3DSecure","paymentData":\{"onlinePaymentCryptogram":"[^"]{28}",\#
            "eciIndicator":"7"\}\}$
            """#)
        #expect(token.plaintext.contains(expected))
    }

    @Test("EMV data is EMV data, and a PIN comes with RSA_v1 alone", arguments: Bench.Key.allCases)
    func emv(key: Bench.Key) throws {
        let token = try bench.authority.mintToken(
            bench.order { $0.dataType = .emv }, certificate: bench.certificate(key))
        let plaintext = try plaintext(token)
        #expect(plaintext["paymentDataType"] as? String == "EMV")
        let data = try #require(plaintext["paymentData"] as? [String: String])
        #expect(Set(data.keys) == (key == .ec ? ["emvData"] : ["emvData", "encryptedPINData"]))
    }

    @Test("an authentication response names its merchant and its amount is text; a merchant token tells of its card")
    func authenticationResponses() throws {
        let other = try #require(MerchantIdentifier("merchant.com.example.other"))
        let token = try bench.authority.mintToken(
            bench.order {
                $0.authenticationResponses = [.init(merchant: other, amount: 250)]
                $0.merchantTokenIdentifier = "DAPLMC0000"
                $0.hasMerchantTokenMetadata = true
            }, certificate: bench.certificate(.ec))
        let plaintext = try plaintext(token)
        let responses = try #require(plaintext["authenticationResponses"] as? [[String: String]])
        #expect(responses.first?["merchantIdentifier"] == other.rawValue)
        #expect(responses.first?["transactionAmount"] == "250")
        #expect(plaintext["merchantTokenIdentifier"] as? String == "DAPLMC0000")
        let metadata = try #require(plaintext["merchantTokenMetadata"] as? [String: Any])
        #expect((metadata["cardMetadata"] as? [String: String])?["fpanSuffix"] == "1111")
        #expect((metadata["cardArt"] as? [[String: String]])?.first?["type"] == "image/png")
    }

    @Test("the header names the key and the transaction; outside, the transaction is in upper case")
    func header() throws {
        let minted = try bench.authority.mintToken(
            bench.order { $0.applicationData = Array("abc".utf8) }, certificate: bench.certificate(.rsa))
        let token = try ReadToken(minted.json)
        #expect(token.paymentData["version"] as? String == "RSA_v1")
        #expect(Set(token.header.keys) == ["publicKeyHash", "wrappedKey", "transactionId", "applicationData"])
        #expect(token.header["transactionId"] == minted.transactionIdentifier)
        #expect(token.outer["transactionIdentifier"] as? String == minted.transactionIdentifier.uppercased())
        // SHA-256 of "abc", FIPS 180-4's first example.
        #expect(
            token.header["applicationData"] == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        let publicKey = try Programs.run([
            "sh", "-c", "openssl pkey -in \"$0\" -pubout -outform DER | openssl dgst -sha256 -binary | base64",
            bench.scratch.path("rsa.key.pem"),
        ]).output
        #expect(token.header["publicKeyHash"] == publicKey.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    @Test("no two tokens share a transaction or key material")
    func fresh() throws {
        let certificate = try bench.certificate(.ec)
        let tokens = try (0..<8).map { _ in
            try ReadToken(bench.authority.mintToken(bench.order(), certificate: certificate).json)
        }
        #expect(Set(tokens.map { $0.header["transactionId"] }).count == 8)
        #expect(Set(tokens.map { $0.header["ephemeralPublicKey"] }).count == 8)
    }

    @Test("a certificate that is no payment processing certificate is refused")
    func wrongCertificate() throws {
        let identity = try bench.certificate(.rsa, purpose: .identity)
        let root = Array(try bench.authority.rootCertificate.utf8)
        for certificate in [identity, root, [], [0x30, 0x00], Array("hello".utf8)] {
            #expect(throws: SandboxFault.self) {
                try bench.authority.mintToken(bench.order(), certificate: certificate)
            }
        }
    }

    @Test("an order that no payment can have is refused")
    func wrongOrders() throws {
        let ec = try bench.certificate(.ec)
        let rsa = try bench.certificate(.rsa)
        let orders = [
            bench.order { $0.amount = 1_000_000_000_000 }, bench.order { $0.currency = "84" },
            bench.order { $0.currency = "usd" },
        ]
        for order in orders {
            #expect(throws: SandboxFault.self) { try bench.authority.mintToken(order, certificate: ec) }
        }
        let secret = bench.order { $0.leadingZeroSecret = true }
        #expect(throws: SandboxFault.self) { try bench.authority.mintToken(secret, certificate: rsa) }
    }
}
