import Crypto
import FoundationEssentials
import PassProvisioning
import Testing

@Suite struct DeviceLogTests {
    private static let address =
        "https://nc-pod4-smp-device.apple.com:443/broker/v4/devices/043C0A5D22F380013000000000000000AB12/cards"

    private func inspect(_ text: String) -> PassInspection {
        PassInspection(text: Array(text.utf8), decryptionKey: TestPass.leafKey)
    }

    /// The body that a device sends. It has further members, and calls `encryptedPassData` `encryptedCardData`.
    private func body(_ pass: TestPass) -> String {
        pass.json(more: #","encryptionVersion":"EV_ECC_v2","issuerIdentifier":"0011""#)
            .replacing("encryptedPassData", with: "encryptedCardData")
    }

    private func logPrefix(_ second: Int) -> String { "2026-11-02 10:11:\(second).123456+0100 passd[123:45678] " }

    /// Breaks a text into lines of 100 characters.
    private func lines(_ text: String) -> [Substring] {
        var rest = Substring(text)
        var lines: [Substring] = []
        while !rest.isEmpty {
            lines.append(rest.prefix(100))
            rest = rest.dropFirst(100)
        }
        return lines
    }

    @Test func `the values are found after the POST line`() throws {
        let pass = try #require(TestPass.valid)
        let log = """
            \(logPrefix(10))Preflight started {state = 1}
            \(logPrefix(11))POST \(Self.address)
            \(logPrefix(12))Body: \(body(pass))
            \(logPrefix(13))Received HTTP 500 {"statusCode":"500","statusMessage":"Broker Service Response exception"}
            """
        let inspection = inspect(log)
        #expect(inspection.findings.map { $0.code } == [])
        #expect(inspection.values.decryption == .succeeded)
        #expect(inspection.values.source == .deviceLog)
        #expect(inspection.values.requestCount == 1)
    }

    @Test func `lines that the log wrapped are joined, with or without the date before each`() throws {
        let pass = try #require(TestPass.valid)
        let wrapped = lines(body(pass))
        #expect(wrapped.count > 5)
        let bare = "\(logPrefix(11))POST \(Self.address)\n\(wrapped.joined(separator: "\n"))"
        let indented = "\(logPrefix(11))POST \(Self.address)\n\(wrapped.joined(separator: "\r\n\t"))"
        let dated =
            "\(logPrefix(11))POST \(Self.address)\n\(wrapped.map { logPrefix(12) + $0 }.joined(separator: "\n"))"
        for log in [bare, indented, dated] {
            let inspection = inspect(log)
            #expect(inspection.findings.map { $0.code } == ["whitespace"])
            #expect(inspection.values.decryption == .succeeded)
        }
    }

    @Test func `the last request with values is inspected`() throws {
        let pass = try #require(TestPass.valid)
        let other = try TestPass(leafKey: P256.KeyAgreement.PrivateKey().publicKey)
        let log = """
            POST \(Self.address)
            \(body(other))
            POST \(Self.address)
            \(body(pass))
            POST \(Self.address)
            (no body)
            """
        let inspection = inspect(log)
        #expect(inspection.findings.map { $0.code } == [])
        #expect(inspection.values.requestCount == 3)
        #expect(inspection.values.decryption == .succeeded)
    }

    @Test func `a dictionary as Objective-C prints it is read`() throws {
        let pass = try #require(TestPass.valid)
        let log = """
            POST \(Self.address)
            {
                activationData = "TUJQQUM=";
                encryptedCardData = "\(pass.ciphertextBase64)";
                encryptionVersion = "EV_ECC_v2";
                ephemeralPublicKey = "\(pass.pointBase64)";
            }
            """
        let inspection = inspect(log)
        #expect(inspection.findings.map { $0.code } == [])
        #expect(inspection.values.encryptionVersion == .eccV2)
        #expect(inspection.values.decryption == .succeeded)
    }

    @Test func `data that Objective-C prints is read, and reported`() throws {
        let pass = try #require(TestPass.valid)
        let digits = pass.point.map { byte in
            let text = String(byte, radix: 16)
            return text.count == 1 ? "0\(text)" : text
        }
        let log = """
            POST \(Self.address)
            { activationData = "TUJQQUM="; encryptedCardData = "\(pass.ciphertextBase64)";
            ephemeralPublicKey = <\(digits.joined())>; }
            """
        let inspection = inspect(log)
        #expect(inspection.findings.map { $0.code } == ["dataDescription"])
        #expect(inspection.values.decryption == .succeeded)
    }

    @Test func `a body in a quoted string is read`() throws {
        let pass = try #require(TestPass.valid)
        let escaped = body(pass).replacing("/", with: #"\/"#).replacing(#"\"#, with: #"\\"#)
            .replacing("\"", with: "\\\"")
        let inspection = inspect("POST \(Self.address) body=\"\(escaped)\"")
        #expect(inspection.values.decryption == .succeeded)
        #expect(inspection.findings.map { $0.code } == [])
    }

    @Test func `placeholders in braces do not hide the body`() throws {
        let pass = try #require(TestPass.valid)
        let inspection = inspect("POST /broker/v4/devices/{SEID}/cards\n\(body(pass))")
        #expect(inspection.findings.map { $0.code } == [])
        #expect(inspection.values.decryption == .succeeded)
    }

    @Test func `the values in a log are inspected like those in JSON`() throws {
        let pass = try #require(TestPass.valid)
        let twice = TestBase64.encode(Array(pass.pointBase64.utf8))
        let inspection = inspect("POST \(Self.address)\n\(body(pass).replacing(pass.pointBase64, with: twice))")
        #expect(inspection.findings.map { $0.code } == ["base64Twice"])
        #expect(inspection.values.decryption == .succeeded)
    }

    @Test func `a log without a request has no values`() {
        let inspection = inspect("\(logPrefix(10))GET \(Self.address)\n\(logPrefix(11))nothing")
        #expect(inspection.findings.map { $0.code } == ["noValuesFound"])
        #expect(inspection.values.requestCount == 0)
    }
}
