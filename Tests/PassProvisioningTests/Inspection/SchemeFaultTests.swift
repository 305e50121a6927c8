import Crypto
import PassProvisioning
import Testing

@Suite struct SchemeFaultTests {
    private func inspect(_ pass: TestPass) -> PassInspection {
        PassInspection(text: Array(pass.json().utf8), decryptionKey: TestPass.leafKey)
    }

    @Test(arguments: SchemeFault.all)
    func `card data that was encrypted in another way is decrypted, and the difference is named`(
        _ fault: SchemeFault
    ) throws {
        let inspection = inspect(try TestPass(scheme: fault.scheme))
        #expect(inspection.findings.map { $0.code } == fault.codes)
        #expect(inspection.values.decryption == .succeededWithFault)
    }

    @Test func `the card data behind a faulty encryption is checked too`() throws {
        let card = TestCard.mastercard.with("expiration", #""13/31""#)
        let pass = try TestPass(Array(card.plaintext.utf8), scheme: TestPass.Scheme(ivLength: 16))
        #expect(inspect(pass).findings.map { $0.code } == ["iv16Bytes", "expirationMonth"])
    }

    @Test(arguments: PlaintextTests.all.filter { $0.network == .mastercard && !$0.bytes.isEmpty })
    func `every fault of a plaintext is found after decryption`(_ broken: PlaintextTests.Broken) throws {
        let pass = try TestPass(broken.bytes)
        let inspection = PassInspection(
            text: Array(pass.json().utf8), decryptionKey: TestPass.leafKey, network: .mastercard)
        let codes = inspection.findings.map { $0.code }.filter { $0 != "tooShortForCardData" }
        #expect(codes == broken.codes)
        #expect(inspection.values.decryption == .succeeded)
    }

    @Test func `card data of this library is decrypted without a finding`() throws {
        for card in [TestCard.mastercard, TestCard.visa] {
            let data = try card.cardData()
            let plaintext = data.withSerializedBytes { Array($0) }
            #expect(inspect(try TestPass(plaintext)).findings.map { $0.code } == [])
        }
    }
}
