import Crypto
import Foundation
import PassProvisioning
import SandboxKit
import Testing
import Vocabulary

/// The sandbox's stand-in for Apple's provisioning broker.
@Suite struct ProvisioningBrokerTests {
    let fixture: ProvisioningFixture
    let broker: ProvisioningBroker

    init() throws {
        fixture = try ProvisioningFixture()
        broker = ProvisioningBroker(
            privateKey: try P256.KeyAgreement.PrivateKey(pemRepresentation: fixture.credentials.privateKey))
    }

    private func codes(
        _ body: String, _ change: (inout ProvisioningBroker.Expectation) -> Void = { _ in }
    ) -> [String] {
        var expectation = ProvisioningBroker.Expectation()
        change(&expectation)
        return broker.answer(to: Array(body.utf8), expecting: expectation).findings.map(\.code)
    }

    @Test func `a correct card gets 200`() throws {
        let body = try ProvisioningFixture.json(fixture.encrypt())
        let answer = broker.answer(to: Array(body.utf8))
        #expect(answer.status == 200 && answer.findings.isEmpty)
        let found = codes(body) { expectation in
            expectation.network = .mastercard
            expectation.nonce = Hex.decode(ProvisioningFixture.nonce)
            expectation.nonceSignature = Hex.decode(ProvisioningFixture.nonceSignature)
        }
        #expect(found == [])
    }

    @Test func `the nonce and signature of another attempt get 500 with the reason`() throws {
        let body = try ProvisioningFixture.json(fixture.encrypt())
        let otherNonce = codes(body) { $0.nonce = [0, 0, 0, 0] }
        #expect(otherNonce == ["nonceMismatch"])
        let otherSignature = codes(body) { $0.nonceSignature = [0x40] }
        #expect(otherSignature == ["nonceSignatureMismatch"])
        let answer = broker.answer(to: Array("{}".utf8))
        #expect(answer.status == 500 && answer.text.hasPrefix("500 Broker Service Response exception\n"))
    }

    @Test func `Base64 twice, a modified card and another key get 500 with the reason`() throws {
        let pass = try fixture.encrypt()
        let twice = Data(pass.encryptedPassDataBase64.utf8)
        let doubled = EncryptedPass(encryptedPassData: twice, ephemeralPublicKey: pass.ephemeralPublicKey)
        #expect(codes(ProvisioningFixture.json(doubled)) == ["base64Twice"])
        var sealed = pass.encryptedPassData
        sealed[sealed.startIndex] ^= 1
        let modified = EncryptedPass(encryptedPassData: sealed, ephemeralPublicKey: pass.ephemeralPublicKey)
        #expect(codes(ProvisioningFixture.json(modified)) == ["decryptionFailed"])
        let other = ProvisioningBroker(privateKey: P256.KeyAgreement.PrivateKey())
        let answer = other.answer(to: Array(ProvisioningFixture.json(pass).utf8))
        #expect(answer.findings.map(\.code) == ["decryptionFailed"])
    }

    @Test func `an expired card gets 500 with the reason`() throws {
        let expired = ProvisioningFixture.card.replacing("12/49", with: "12/25")
        let pass = try fixture.encrypt(expired, at: Date(timeIntervalSince1970: 1_764_547_200))
        #expect(codes(ProvisioningFixture.json(pass)) == ["expirationPast"])
    }

    @Test func `activation data that is not Base64 gets 500, and without activation data a card gets 200`() throws {
        let pass = try fixture.encrypt()
        #expect(codes(ProvisioningFixture.json(pass, activationData: "T1Q")) == ["missingPadding"])
        #expect(codes(ProvisioningFixture.json(pass, activationData: nil)) == [])
    }

    @Test(arguments: ["", "[]", "not json", #"{"certificates":[],"certificates":[]}"#])
    func `a body that is not a JSON object, or has a name twice, gets 500 with the reason`(body: String) {
        #expect(codes(body) == ["malformedBody"])
    }

    @Test func `the answer contains no card data`() throws {
        let body = try ProvisioningFixture.json(fixture.encrypt())
        for answer in [
            broker.answer(to: Array(body.utf8)),
            broker.answer(to: Array(body.utf8), expecting: Self.otherNetwork),
        ] {
            #expect(!answer.text.contains("5555555555554444") && !answer.text.contains("Alex"))
        }
    }

    private static var otherNetwork: ProvisioningBroker.Expectation {
        var expectation = ProvisioningBroker.Expectation()
        expectation.network = .americanExpress
        return expectation
    }
}
