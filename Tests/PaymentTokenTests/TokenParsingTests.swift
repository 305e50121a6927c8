import Crypto
import FoundationEssentials
import PaymentToken
import Testing
import Vocabulary

@Suite("Parsing a payment token")
struct TokenParsingTests {
    private func parse(_ json: String) throws -> ApplePayToken { try ApplePayToken(parsing: Array(json.utf8)) }

    @Test("paymentData alone, a whole token, and a payment that contains a token are parsed")
    func forms() throws {
        let parts = try TestMint().parts()
        let id = Hex.encode(parts.transactionId).uppercased()
        let whole =
            #"{"paymentData":\#(parts.json),"paymentMethod":{"network":"Visa"},"transactionIdentifier":"\#(id)"}"#
        for json in [parts.json, whole, #"{"token":\#(whole),"billingContact":{}}"#] {
            let token = try parse(json)
            #expect(token.version == .ecV1)
            #expect(token.data == parts.data)
            #expect(token.signature == parts.signature)
            #expect(token.transactionId.bytes == parts.transactionId)
            #expect(token.publicKeyHash.bytes == parts.publicKeyHash)
            #expect(token.keyMaterial.bytes == parts.keyMaterial)
            #expect(token.applicationDataHash == nil)
        }
    }

    @Test("Unknown fields are ignored")
    func unknown() throws {
        let json = try TestMint().parts().json.replacing(#""header":{"#, with: #""new":1,"header":{"newer":[{}],"#)
        #expect(throws: Never.self) { try parse(json) }
    }

    @Test("transactionId is parsed in upper and in lower case")
    func identifierCase() throws {
        let parts = try TestMint().parts()
        let id = Hex.encode(parts.transactionId)
        let upper = try parse(parts.json.replacing(id, with: id.uppercased()))
        #expect(upper.transactionId == (try parts.token().transactionId))
        #expect(upper.transactionId.hex == id)
    }

    /// A defect of a token, and a field name or value that the error must contain.
    struct Defect: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var mentions = ""
        var code = PaymentTokenError.Code.malformed
        let change: @Sendable (inout TestMint.Parts) -> Void
        var rewrite: @Sendable (String) -> String = { $0 }
    }

    static let defects: [Defect] = [
        Defect(testDescription: "empty input", change: { _ in }, rewrite: { _ in "" }),
        Defect(testDescription: "an array", change: { _ in }, rewrite: { "[\($0)]" }),
        Defect(testDescription: "bytes after the object", change: { _ in }, rewrite: { $0 + "x" }),
        Defect(testDescription: "more than 64 KiB", mentions: "65536", change: { _ in }) {
            $0 + String(repeating: " ", count: 65_536)
        },
        Defect(testDescription: "a field twice", mentions: "'version'", change: { _ in }) {
            $0.replacing(#"{"version""#, with: #"{"version":"EC_v1","version""#)
        },
        Defect(testDescription: "a header field twice", mentions: "'transactionId'", change: { _ in }) {
            $0.replacing(#""header":{"#, with: #""header":{"transactionId":"","#)
        },
        Defect(testDescription: "no version", mentions: "'version'", change: { _ in }) {
            $0.replacing(#""version""#, with: #""Version""#)
        },
        Defect(
            testDescription: "another version", mentions: "EC_v2", code: .unsupportedVersion,
            change: { $0.version = "EC_v2" },
            rewrite: { $0.replacing("wrappedKey", with: "ephemeralPublicKey") }),
        Defect(testDescription: "no header", mentions: "'header'", change: { _ in }) {
            $0.replacing(#""header""#, with: #""Header""#)
        },
        Defect(testDescription: "no transactionId", mentions: "'header.transactionId'", change: { _ in }) {
            $0.replacing("transactionId", with: "transactionID")
        },
        Defect(
            testDescription: "short transactionId", mentions: "'header.transactionId'",
            change: { $0.transactionId.removeLast() }),
        Defect(
            testDescription: "transactionId that is not hexadecimal", mentions: "'header.transactionId'",
            change: { _ in }
        ) {
            $0.replacing(Hex.encode(TestMint().transactionId), with: String(repeating: "g", count: 64))
        },
        Defect(testDescription: "another outer identifier", mentions: "'transactionIdentifier'", change: { _ in }) {
            #"{"paymentData":\#($0),"transactionIdentifier":"\#(String(repeating: "0", count: 64))"}"#
        },
        Defect(
            testDescription: "short publicKeyHash", mentions: "'header.publicKeyHash'",
            change: { $0.publicKeyHash.removeLast() }),
        Defect(
            testDescription: "short applicationData", mentions: "'header.applicationData'",
            change: { $0.applicationDataHash = [1] }),
        Defect(testDescription: "data without padding", mentions: "'data'", change: { $0.data = [1] }) {
            $0.replacing(#""AQ==""#, with: #""AQ""#)
        },
        Defect(testDescription: "data with a line break", mentions: "'data'", change: { _ in }) {
            $0.replacing(#""data":""#, with: #""data":"\n"#)
        },
        Defect(testDescription: "data in the URL alphabet", mentions: "'data'", change: { $0.data = [0xFB] }) {
            $0.replacing(#""+w==""#, with: #""-w==""#)
        },
        Defect(testDescription: "Base64 with unused bits set", mentions: "'data'", change: { $0.data = [1] }) {
            $0.replacing(#""AQ==""#, with: #""AR==""#)
        },
        Defect(testDescription: "data too short for a tag", mentions: "18 to 32768", change: { $0.data = [1] }),
        Defect(testDescription: "data too long", mentions: "18 to 32768") {
            $0.data = [UInt8](repeating: 1, count: 32_769)
        },
        Defect(testDescription: "a key on another curve", mentions: "'ephemeralPublicKey'") {
            $0.keyMaterial = Array(P384.KeyAgreement.PrivateKey().publicKey.derRepresentation)
        },
        Defect(testDescription: "a compressed point", mentions: "'ephemeralPublicKey'") {
            $0.keyMaterial = DER.sequence(
                DER.sequence(DER.oid("1.2.840.10045.2.1"), DER.oid("1.2.840.10045.3.1.7")),
                DER.bits(Array(P256.KeyAgreement.PrivateKey().publicKey.compressedRepresentation)))
        },
        Defect(testDescription: "a point that is not on the curve", mentions: "'ephemeralPublicKey'") {
            $0.keyMaterial[90] ^= 1
        },
        Defect(
            testDescription: "bytes after the key", mentions: "'ephemeralPublicKey'",
            change: { $0.keyMaterial.append(0) }),
        Defect(testDescription: "the point at infinity", mentions: "'ephemeralPublicKey'") {
            $0.keyMaterial = DER.sequence(
                DER.sequence(DER.oid("1.2.840.10045.2.1"), DER.oid("1.2.840.10045.3.1.7")), DER.bits([0]))
        },
        Defect(testDescription: "RSA's key material in an EC token", mentions: "'header.wrappedKey'", change: { _ in })
        {
            $0.replacing("ephemeralPublicKey", with: "wrappedKey")
        },
        Defect(testDescription: "both kinds of key material", mentions: "'header.wrappedKey'", change: { _ in }) {
            $0.replacing(#""header":{"#, with: #""header":{"wrappedKey":"AQ==","#)
        },
        Defect(
            testDescription: "a wrapped key of another length", mentions: "'wrappedKey'",
            change: {
                $0.version = "RSA_v1"
                $0.keyMaterial = [UInt8](repeating: 1, count: 255)
            }),
    ]

    @Test("A token with a defect is rejected", arguments: defects)
    func reject(_ defect: Defect) throws {
        var parts = try TestMint().parts()
        defect.change(&parts)
        let json = defect.rewrite(parts.json)
        let error = #expect(throws: PaymentTokenError.self) { try parse(json) }
        #expect(error?.code == defect.code)
        #expect(error?.detail.contains(defect.mentions) == true || defect.mentions.isEmpty, "\(error?.detail ?? "")")
    }

    @Test("The description of a token contains its version, transactionId and publicKeyHash")
    func description() throws {
        let token = try TestMint().token()
        #expect("\(token)".contains("EC_v1 payment token \(token.transactionId.hex)"))
        #expect("\(token)".hasSuffix(token.publicKeyHashBase64))
    }
}
