import Crypto
import PassProvisioning
import Testing

@Suite struct PassInspectionTests {
    private func inspect(_ text: String, key: P256.KeyAgreement.PrivateKey? = TestPass.leafKey) -> PassInspection {
        PassInspection(text: Array(text.utf8), decryptionKey: key)
    }

    @Test func `a valid pass has no finding`() throws {
        let pass = try #require(TestPass.valid)
        let inspection = inspect(pass.json(more: #","encryptionVersion":"EV_ECC_v2""#))
        #expect(inspection.findings.map { $0.code } == [])
        #expect(inspection.values.decryption == .succeeded)
        #expect(inspection.values.source == .json)
        #expect(inspection.values.encryptionVersion == .eccV2)
        #expect(inspection.values.ephemeralPublicKeyLength == 65)
        #expect(inspection.values.encryptedPassDataLength == pass.ciphertext.count)
        #expect(inspection.values.activationDataLength == TestPass.activationData.utf8.count)
        #expect(
            inspection.values.names
                == ["activationData", "encryptedPassData", "encryptionVersion", "ephemeralPublicKey"])
    }

    @Test func `without the key, the card data is not decrypted`() throws {
        let pass = try #require(TestPass.valid)
        let inspection = inspect(pass.json(), key: nil)
        #expect(inspection.findings.map { $0.code } == [])
        #expect(inspection.values.decryption == .notAttempted)
    }

    @Test func `there are at least 45 broken inputs with different descriptions`() {
        #expect(Set(BrokenPass.all.map(\.testDescription)).count >= 45)
        #expect(Set(BrokenPass.all.map(\.testDescription)).count == BrokenPass.all.count)
    }

    @Test(arguments: BrokenPass.all)
    func `every fault is reported, and the card is decrypted if the fault is repaired`(_ broken: BrokenPass) throws {
        let pass = try #require(TestPass.valid)
        let inspection = inspect(try broken.text(pass))
        #expect(inspection.findings.map { $0.code } == broken.codes)
        #expect(inspection.values.decryption == broken.decryption)
    }

    @Test(arguments: BrokenPass.all)
    func `without the key, the same faults are reported, except a failed decryption`(_ broken: BrokenPass) throws {
        let pass = try #require(TestPass.valid)
        let inspection = inspect(try broken.text(pass), key: nil)
        #expect(inspection.findings.map { $0.code } == broken.codes.filter { $0 != "decryptionFailed" })
        #expect(inspection.values.decryption == .notAttempted)
    }

    @Test(arguments: BrokenPass.all)
    func `no finding contains a value, a card number or a name`(_ broken: BrokenPass) throws {
        let pass = try #require(TestPass.valid)
        let texts = inspect(try broken.text(pass)).findings.map { "\($0) \($0.message) \($0.action)" }
        let secrets = [
            TestCard.number(.mastercard), "MARIA", String(pass.pointBase64.prefix(16)),
            String(pass.ciphertextBase64.prefix(16)), "MBPAC-1-FK",
        ]
        for secret in secrets { #expect(texts.filter { $0.contains(secret) } == []) }
    }

    @Test func `the length of a SubjectPublicKeyInfo is reported as it was found`() throws {
        let pass = try #require(TestPass.valid)
        let inspection = inspect(pass.json(pointBytes: pass.subjectPublicKeyInfo))
        #expect(inspection.values.ephemeralPublicKeyLength == 91)
    }

    @Test func `the card data is checked for the given network`() throws {
        let pass = try #require(TestPass.valid)
        let inspection = PassInspection(
            text: Array(pass.json().utf8), decryptionKey: TestPass.leafKey, network: .americanExpress)
        #expect(inspection.findings.map { $0.code } == ["cardNumberLength"])
    }

    @Test func `a text above the limit is refused`() {
        let text = [UInt8](repeating: 0x20, count: 16 * 1_048_576 + 1)
        #expect(PassInspection(text: text).findings.map { $0.code } == ["textTooLong"])
    }

    @Test func `a text in UTF-16 or with a byte order mark is read`() throws {
        let pass = try #require(TestPass.valid)
        let utf16 = pass.json().utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
        let texts: [[UInt8]] = [[0xFF, 0xFE] + utf16, [0xEF, 0xBB, 0xBF] + Array(pass.json().utf8)]
        for text in texts {
            let inspection = PassInspection(text: text, decryptionKey: TestPass.leafKey)
            #expect(inspection.findings.map { $0.code } == [])
            #expect(inspection.values.decryption == .succeeded)
        }
    }

    @Test func `changed bytes and truncated texts never stop the inspection`() throws {
        let pass = try #require(TestPass.valid)
        let valid = Array(pass.json().utf8)
        for index in stride(from: 0, to: valid.count, by: 5) {
            for byte: UInt8 in [0x00, 0x22, 0x5C, 0x7B, 0xC3] {
                var changed = valid
                changed[index] = byte
                let inspection = PassInspection(text: changed)
                #expect(inspection.values.decryption == .notAttempted)
            }
            let cut = PassInspection(text: Array(valid.prefix(index)))
            #expect(!cut.findings.isEmpty)
        }
    }
}
