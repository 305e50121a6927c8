import FoundationEssentials
import PassProvisioning
import Testing

/// The inspection of what the app sends to the issuer's server.
@Suite struct AppRequestTests {
    private func request(
        certificates: String = "[]", nonce: String = "\"\(TestCard.nonce)\"",
        signature: String = "\"\(TestCard.nonceSignature)\"", more: String = ""
    ) -> String {
        #"{"certificates":\#(certificates),"nonce":\#(nonce),"nonceSignature":\#(signature)\#(more)}"#
    }

    private func codes(_ text: String) -> [String] {
        PassInspection(text: Array(text.utf8)).findings.map { $0.code }.filter { $0 != "wrongCertificateCount" }
    }

    @Test func `the certificates of a request are checked`() {
        let findings = PassInspection(text: Array(request().utf8)).findings
        #expect(findings.map { $0.code } == ["wrongCertificateCount"])
        #expect(codes(request(certificates: #""x""#)) == ["wrongType"])
        #expect(codes(request(certificates: "[1]")) == ["wrongType"])
        #expect(codes(request(certificates: #"["!!!!","!!!!"]"#)) == ["invalidBase64"])
    }

    @Test func `the nonce and its signature are checked`() {
        #expect(codes(request()) == [])
        #expect(codes(request(nonce: #""9c02""#)) == ["nonceLength"])
        #expect(codes(request(nonce: #""nAI8fg==""#)) == ["nonceBase64"])
        #expect(codes(request(nonce: "1")) == ["wrongType"])
        #expect(codes(request(nonce: "null")) == ["missingValue"])
        #expect(codes(request(signature: #""4001""#)) == ["nonceSignatureLength"])
        #expect(codes(request().replacing("\"nonce\"", with: "\"other\"")) == ["missingValue"])
    }

    @Test func `a request needs no encrypted values`() {
        #expect(codes(request(more: #","activationData":"TUJQQUM=""#)) == [])
    }

    @Test func `the card of a request is checked`() {
        let card = TestCard.mastercard
        let valid = #","configuration":1,"network":"Mastercard","card":"# + card.json
        #expect(codes(request(more: valid)) == [])
        let wrong = #","configuration":1,"network":"Mastercard","card":"# + card.without("name").json
        #expect(codes(request(more: wrong)) == ["missingKey"])
        let old = #","configuration":1,"network":"Mastercard","card":"# + card.with("version", #""0""#).json
        #expect(codes(request(more: old)) == ["versionDeprecated"])
    }

    @Test(.enabled(if: ProvisioningFixtures.directory != nil, "MERCHANTKEYD_FIXTURES is not set"))
    func `the mangled signature of a real SDK is named`() throws {
        let base64 = try ProvisioningFixtures.text("nonceSignature.mangled.txt")
        #expect(
            codes(request(signature: "\"\(base64)\"")) == ["nonceSignatureBase64", "nonceSignatureTextDecoded"])
    }
}
