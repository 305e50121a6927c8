import Crypto
import FoundationEssentials
import PaymentToken
import Testing
import Vocabulary

@Suite("Reading a payment token")
struct TokenParsingTests {
    private func read(_ json: String) throws -> ApplePayToken { try ApplePayToken(parsing: Array(json.utf8)) }

    @Test("takes paymentData alone, a whole token, and a payment around it")
    func forms() throws {
        let parts = try TestMint().parts()
        let id = Hex.encode(parts.transactionId).uppercased()
        let whole =
            #"{"paymentData":\#(parts.json),"paymentMethod":{"network":"Visa"},"transactionIdentifier":"\#(id)"}"#
        for json in [parts.json, whole, #"{"token":\#(whole),"billingContact":{}}"#] {
            let token = try read(json)
            #expect(token.version == .ecV1)
            #expect(token.data == parts.data)
            #expect(token.signature == parts.signature)
            #expect(token.transactionId.bytes == parts.transactionId)
            #expect(token.publicKeyHash.bytes == parts.publicKeyHash)
            #expect(token.keyMaterial.bytes == parts.keyMaterial)
            #expect(token.applicationDataHash == nil)
        }
    }

    @Test("passes over fields that it does not know")
    func unknown() throws {
        let json = try TestMint().parts().json.replacing(#""header":{"#, with: #""new":1,"header":{"newer":[{}],"#)
        #expect(throws: Never.self) { try read(json) }
    }

    @Test("ignores the case of transactionId")
    func identifierCase() throws {
        let parts = try TestMint().parts()
        let id = Hex.encode(parts.transactionId)
        let upper = try read(parts.json.replacing(id, with: id.uppercased()))
        #expect(upper.transactionId == (try parts.token().transactionId))
        #expect(upper.transactionId.hex == id)
    }

    /// What is wrong, and the words the refusal must hold.
    struct Refusal: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let says: String
        var code = PaymentTokenError.Code.malformed
        let change: @Sendable (inout TestMint.Parts) -> Void
        var rewrite: @Sendable (String) -> String = { $0 }
    }

    static let refusals: [Refusal] = [
        Refusal(testDescription: "no JSON", says: "empty body", change: { _ in }, rewrite: { _ in "" }),
        Refusal(testDescription: "an array", says: "expected a JSON object", change: { _ in }, rewrite: { "[\($0)]" }),
        Refusal(testDescription: "bytes after it", says: "after the end", change: { _ in }, rewrite: { $0 + "x" }),
        Refusal(testDescription: "too long", says: "at most 65536", change: { _ in }) {
            $0 + String(repeating: " ", count: 65_536)
        },
        Refusal(testDescription: "a name twice", says: "'version' twice", change: { _ in }) {
            $0.replacing(#"{"version""#, with: #"{"version":"EC_v1","version""#)
        },
        Refusal(testDescription: "a header's name twice", says: "'transactionId' twice", change: { _ in }) {
            $0.replacing(#""header":{"#, with: #""header":{"transactionId":"","#)
        },
        Refusal(testDescription: "no version", says: "'version' is missing", change: { _ in }) {
            $0.replacing(#""version""#, with: #""Version""#)
        },
        Refusal(
            testDescription: "another version", says: "EC_v2", code: .unsupportedVersion,
            change: { $0.version = "EC_v2" },
            rewrite: { $0.replacing("wrappedKey", with: "ephemeralPublicKey") }),
        Refusal(testDescription: "no header", says: "'header' is missing", change: { _ in }) {
            $0.replacing(#""header""#, with: #""Header""#)
        },
        Refusal(testDescription: "no transactionId", says: "'header.transactionId' is missing", change: { _ in }) {
            $0.replacing("transactionId", with: "transactionID")
        },
        Refusal(
            testDescription: "short transactionId", says: "64 hexadecimal", change: { $0.transactionId.removeLast() }),
        Refusal(testDescription: "transactionId that is not hexadecimal", says: "64 hexadecimal", change: { _ in }) {
            $0.replacing(Hex.encode(TestMint().transactionId), with: String(repeating: "g", count: 64))
        },
        Refusal(testDescription: "another identifier outside", says: "differs", change: { _ in }) {
            #"{"paymentData":\#($0),"transactionIdentifier":"\#(String(repeating: "0", count: 64))"}"#
        },
        Refusal(
            testDescription: "short publicKeyHash", says: "44 characters", change: { $0.publicKeyHash.removeLast() }),
        Refusal(testDescription: "short applicationData", says: "64 digits", change: { $0.applicationDataHash = [1] }),
        Refusal(testDescription: "data without padding", says: "'data' is not Base64", change: { $0.data = [1] }) {
            $0.replacing(#""AQ==""#, with: #""AQ""#)
        },
        Refusal(testDescription: "data with a line break", says: "'data' is not Base64", change: { _ in }) {
            $0.replacing(#""data":""#, with: #""data":"\n"#)
        },
        Refusal(testDescription: "data in the URL alphabet", says: "'data' is not Base64", change: { $0.data = [0xFB] })
        {
            $0.replacing(#""+w==""#, with: #""-w==""#)
        },
        Refusal(testDescription: "Base64 with bits left over", says: "'data' is not Base64", change: { $0.data = [1] })
        {
            $0.replacing(#""AQ==""#, with: #""AR==""#)
        },
        Refusal(testDescription: "data too short for a tag", says: "expected 18", change: { $0.data = [1] }),
        Refusal(testDescription: "data too long", says: "expected 18 to 32768") {
            $0.data = [UInt8](repeating: 1, count: 32_769)
        },
        Refusal(testDescription: "a key of another curve", says: "P-256") {
            $0.keyMaterial = Array(P384.KeyAgreement.PrivateKey().publicKey.derRepresentation)
        },
        Refusal(testDescription: "a compressed point", says: "P-256") {
            $0.keyMaterial = DER.sequence(
                DER.sequence(DER.oid("1.2.840.10045.2.1"), DER.oid("1.2.840.10045.3.1.7")),
                DER.bits(Array(P256.KeyAgreement.PrivateKey().publicKey.compressedRepresentation)))
        },
        Refusal(testDescription: "a point off the curve", says: "off the curve") { $0.keyMaterial[90] ^= 1 },
        Refusal(testDescription: "bytes after the key", says: "P-256", change: { $0.keyMaterial.append(0) }),
        Refusal(testDescription: "the point at infinity", says: "P-256") {
            $0.keyMaterial = DER.sequence(
                DER.sequence(DER.oid("1.2.840.10045.2.1"), DER.oid("1.2.840.10045.3.1.7")), DER.bits([0]))
        },
        Refusal(testDescription: "RSA's key material in an EC token", says: "'header.wrappedKey'", change: { _ in }) {
            $0.replacing("ephemeralPublicKey", with: "wrappedKey")
        },
        Refusal(testDescription: "both kinds of key material", says: "'header.wrappedKey'", change: { _ in }) {
            $0.replacing(#""header":{"#, with: #""header":{"wrappedKey":"AQ==","#)
        },
        Refusal(
            testDescription: "a wrapped key of another size", says: "expected 256",
            change: {
                $0.version = "RSA_v1"
                $0.keyMaterial = [UInt8](repeating: 1, count: 255)
            }),
    ]

    @Test("refuses", arguments: refusals)
    func refuse(_ refusal: Refusal) throws {
        var parts = try TestMint().parts()
        refusal.change(&parts)
        let json = refusal.rewrite(parts.json)
        let error = #expect(throws: PaymentTokenError.self) { try read(json) }
        #expect(error?.code == refusal.code)
        #expect(error?.detail.contains(refusal.says) == true, "\(error?.detail ?? "")")
    }

    @Test("describes a token by version, transactionId and publicKeyHash")
    func description() throws {
        let token = try TestMint().token()
        #expect("\(token)".contains("EC_v1 payment token \(token.transactionId.hex)"))
        #expect("\(token)".hasSuffix(token.publicKeyHashBase64))
    }
}
