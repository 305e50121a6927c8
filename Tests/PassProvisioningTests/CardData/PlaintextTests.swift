import PassProvisioning
import Secrets
import Testing

@Suite struct PlaintextTests {
    /// A plaintext with a fault.
    struct Broken: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
        var network: ProvisioningNetwork? = .mastercard
        let codes: [String]
    }

    private static let json = TestCard.mastercard.plaintext
    private static let utf8 = Array(json.utf8)

    private static func replacing(_ old: String, _ new: String) -> [UInt8] {
        Array(json.replacing(old, with: new).utf8)
    }

    private static func utf16(_ text: String) -> [UInt8] {
        text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
    }

    private static var quoted: [UInt8] {
        Array("\"\(json.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\"".utf8)
    }

    static let all: [Broken] = [
        Broken(testDescription: "empty", bytes: [], codes: ["notJSON"]),
        Broken(testDescription: "random bytes", bytes: [0x8F, 0x01, 0x77], codes: ["notJSON"]),
        Broken(testDescription: "cut", bytes: Array(utf8.dropLast(5)), codes: ["notJSON"]),
        Broken(testDescription: "an array", bytes: Array("[\(json)]".utf8), codes: ["notObject"]),
        Broken(
            testDescription: "a key twice", bytes: replacing("{", #"{"name":"x","#), codes: ["duplicateKey"]),
        Broken(testDescription: "a byte order mark", bytes: [0xEF, 0xBB, 0xBF] + utf8, codes: ["byteOrderMark"]),
        Broken(testDescription: "UTF-16", bytes: utf16(json), codes: ["utf16"]),
        Broken(testDescription: "UTF-16 with mark", bytes: [0xFF, 0xFE] + utf16(json), codes: ["utf16"]),
        Broken(testDescription: "Base64", bytes: Array(TestBase64.encode(utf8).utf8), codes: ["plaintextBase64"]),
        Broken(
            testDescription: "Base64 twice",
            bytes: Array(TestBase64.encode(Array(TestBase64.encode(utf8).utf8)).utf8),
            codes: ["plaintextBase64", "plaintextBase64"]),
        Broken(
            testDescription: "Base64 with another fault",
            bytes: Array(TestBase64.encode(replacing("04/31", "13/31")).utf8),
            codes: ["plaintextBase64", "expirationMonth"]),
        Broken(testDescription: "JSON in a string", bytes: quoted, codes: ["jsonInString"]),
        Broken(testDescription: "a zero byte at the end", bytes: utf8 + [0], codes: ["paddingAfterJSON"]),
        Broken(
            testDescription: "padding of a block cipher", bytes: utf8 + [UInt8](repeating: 5, count: 5),
            codes: ["paddingAfterJSON"]),
        Broken(testDescription: "other bytes at the end", bytes: utf8 + [0x78], codes: ["notJSON"]),
        Broken(testDescription: "version 2", bytes: replacing(#""1""#, #""2""#), codes: ["versionUnknown"]),
        Broken(testDescription: "version as a number", bytes: replacing(#""1""#, "1"), codes: ["wrongType"]),
        Broken(
            testDescription: "a short nonce", bytes: replacing(TestCard.nonce, "9c02"), codes: ["nonceLength"]),
        Broken(
            testDescription: "a cut signature", bytes: replacing(TestCard.nonceSignature, "4001"),
            codes: ["nonceSignatureLength"]),
        Broken(
            testDescription: "both numbers",
            bytes: Array(
                TestCard.mastercard.with("encryptedPrimaryAccountNumber", "\"\(TestCard.encryptedNumber)\"").plaintext
                    .utf8), codes: ["bothCardNumbers"]),
        Broken(
            testDescription: "no number",
            bytes: Array(TestCard.mastercard.without("primaryAccountNumber").plaintext.utf8), codes: ["noCardNumber"]),
        Broken(
            testDescription: "no number and no network",
            bytes: Array(TestCard.mastercard.without("primaryAccountNumber").plaintext.utf8), network: nil,
            codes: ["noCardNumber"]),
        Broken(
            testDescription: "a card of another network", bytes: utf8, network: .americanExpress,
            codes: ["cardNumberLength"]),
        Broken(
            testDescription: "a number that no network has, network unknown",
            bytes: replacing("5555555555554444", "00000000000"), network: nil, codes: ["cardNumberLength"]),
        Broken(
            testDescription: "an unknown network name, network unknown",
            bytes: Array(TestCard.visa.with("networkName", #""Visacard""#).plaintext.utf8), network: nil,
            codes: ["networkNameUnknown"]),
    ]

    @Test(arguments: all)
    func `each fault of a plaintext is reported with its code`(_ broken: Broken) {
        #expect(TestCard.findings(broken.bytes, network: broken.network).map(\.code) == broken.codes)
    }

    @Test func `a valid plaintext has no findings if its network is not given`() {
        #expect(TestCard.findings(Self.json, network: nil) == [])
        #expect(TestCard.findings(TestCard.visa.plaintext, network: nil) == [])
    }

    @Test func `a valid plaintext in SecretBytes has no findings`() {
        let plaintext = SecretBytes(copying: Self.utf8)
        #expect(CardData.findings(plaintext: plaintext, network: .mastercard) == [])
    }

    @Test func `a given configuration is checked instead of the one that the keys show`() {
        let findings = Self.utf8.withUnsafeBytes {
            CardData.findings(plaintext: $0, network: .mastercard, configuration: .encryptedCardNumber)
        }
        let errors = findings.filter { !$0.isWarning }
        #expect(errors.map(\.code).sorted().first == "forbiddenKey")
        #expect(
            errors.filter { $0.kind == .missingKey }.map(\.key)
                == ["encryptedPrimaryAccountNumber", "networkName", "primaryAccountNumberPrefix"])
    }
}
