import FoundationEssentials
import PassProvisioning
import Testing

@Suite struct NonceTests {
    private func nonceCode(_ text: String) -> String? {
        do throws(CardDataFinding) {
            _ = try ProvisioningNonce(hex: text)
            return nil
        } catch {
            return error.code
        }
    }

    private func signatureCode(_ text: String) -> String? {
        do throws(CardDataFinding) {
            _ = try NonceSignature(hex: text)
            return nil
        } catch {
            return error.code
        }
    }

    private func hex(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef")
        return bytes.map { "\(digits[Int($0 >> 4)])\(digits[Int($0 & 15)])" }.joined()
    }

    /// 81 bytes as a device sends them: 0x40 and bytes of every kind.
    private let signature: [UInt8] = [0x40] + (0..<80).map { UInt8(truncatingIfNeeded: $0 * 37 + 11) }

    /// Reads every byte as a character of Latin-1, and writes the text in UTF-8.
    private func mangled(_ bytes: [UInt8]) -> [UInt8] {
        var text = String.UnicodeScalarView()
        for byte in bytes { text.append(Unicode.Scalar(byte)) }
        return Array(String(text).utf8)
    }

    @Test func `a nonce has 4 bytes`() throws {
        let nonce = try ProvisioningNonce(hex: "9C023c7e")
        #expect(nonce.bytes == [0x9C, 0x02, 0x3C, 0x7E])
        #expect(nonce.hex == "9c023c7e")
        #expect(nonceCode("") == "nonceLength")
        #expect(nonceCode("9c023c") == "nonceLength")
        #expect(nonceCode("9c023c7e00") == "nonceLength")
    }

    @Test func `a nonce in another encoding is refused, and the finding names the mistake`() {
        #expect(nonceCode("9c023c7") == "nonceNotHexadecimal")
        #expect(nonceCode("9c02xxx2") == "nonceNotHexadecimal")
        #expect(nonceCode(TestBase64.encode([0x9C, 0x02, 0x3C, 0x7E])) == "nonceBase64")
        #expect(nonceCode(hex(Array("9c023c7e".utf8))) == "nonceHexTwice")
        #expect(nonceCode(hex(mangled([0x9C, 0x02, 0x3C, 0x7E]))) == "nonceTextDecoded")
        #expect(nonceCode(hex([0xEF, 0xBF, 0xBD, 0x02, 0x3C, 0x7E])) == "nonceTextDecoded")
    }

    @Test func `four bytes are a nonce, even if they are UTF-8 by chance`() throws {
        #expect(try ProvisioningNonce(hex: "c3a9c3a9").bytes == [0xC3, 0xA9, 0xC3, 0xA9])
    }

    @Test func `a nonce signature has 64 to 128 bytes, and other lengths than 81 are a warning`() throws {
        let valid = try NonceSignature(hex: hex(signature).uppercased())
        #expect(valid.hex == hex(signature))
        #expect(valid.count == 81)
        #expect(NonceSignature.findings(hex: hex(signature)) == [])
        for count in [64, 80, 128] {
            let text = hex([UInt8](repeating: 0xFE, count: count))
            #expect(signatureCode(text) == nil)
            #expect(NonceSignature.findings(hex: text).map(\.code) == ["nonceSignatureUnusualLength"])
        }
        for count in [0, 63, 129] {
            #expect(signatureCode(hex([UInt8](repeating: 0xFE, count: count))) == "nonceSignatureLength")
        }
    }

    @Test func `card data with a signature of unusual length has a warning`() throws {
        let data = try CardData(
            configuration: .cardNumber, network: .mastercard, card: Array(TestCard.mastercard.json.utf8),
            nonce: ProvisioningNonce(hex: TestCard.nonce),
            nonceSignature: NonceSignature(hex: String(repeating: "fe", count: 70)), at: TestCard.now)
        #expect(data.warnings.map(\.code) == ["nonceSignatureUnusualLength"])
    }

    @Test func `a nonce signature in another encoding is refused, and the finding names the mistake`() {
        #expect(signatureCode("zz") == "nonceSignatureNotHexadecimal")
        #expect(signatureCode(TestBase64.encode(signature)) == "nonceSignatureBase64")
        #expect(signatureCode(hex(Array(hex(signature).utf8))) == "nonceSignatureHexTwice")
    }

    @Test func `a nonce signature that was read as text is refused, and the finding names its original length`() {
        let text = hex(mangled(signature))
        #expect(signatureCode(text) == "nonceSignatureTextDecoded")
        let findings = NonceSignature.findings(hex: text)
        #expect(findings.map(\.code) == ["nonceSignatureTextDecoded"])
        #expect(findings.first?.message.contains("81 bytes") == true)
        #expect(
            NonceSignature.findings(hex: TestBase64.encode(mangled(signature))).map(\.code)
                == ["nonceSignatureBase64", "nonceSignatureTextDecoded"])
    }

    @Test func `a nonce signature whose invalid bytes were replaced by U+FFFD is refused as decoded text`() {
        let replaced = Array(String(decoding: signature, as: UTF8.self).utf8)
        #expect(signatureCode(hex(replaced)) == "nonceSignatureTextDecoded")
    }

    @Test(
        .enabled(if: ProvisioningFixtures.directory != nil, "MERCHANTKEYD_FIXTURES is not set"))
    func `the mangled signature of a real SDK is refused as bytes that were read as text`() throws {
        let base64 = try ProvisioningFixtures.text("nonceSignature.mangled.txt")
        #expect(signatureCode(base64) == "nonceSignatureTextDecoded")
        let bytes = try #require(Data(base64Encoded: base64))
        #expect(bytes.count == 122)
        #expect(signatureCode(hex(Array(bytes))) == "nonceSignatureTextDecoded")
        let original = try ProvisioningFixtures.text("nonceSignature.hex.txt")
        #expect(NonceSignature.findings(hex: original) == [])
        #expect(try NonceSignature(hex: original).count == 81)
    }
}
