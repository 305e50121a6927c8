import Foundation
import MerchantTestSupport
import SandboxKit
import Testing
import Vocabulary

@Suite(.enabled(if: Programs.hasOpenSSL, "openssl is not installed"))
struct TokenSignatureTests {
    let fixture: SandboxFixture

    init() throws { fixture = try SandboxFixture() }

    /// Runs `openssl cms -verify`, which writes the verified content to the file `verified`.
    private func verify(_ signature: [UInt8], over content: [UInt8]) throws -> ChildProcess.Outcome {
        try Programs.openssl(
            "cms", "-verify", "-binary", "-inform", "DER", "-in", fixture.scratch.write(signature, "signature"),
            "-content", fixture.scratch.write(content, "content"), "-CAfile", fixture.scratch.path("root.pem"),
            "-purpose", "any", "-out", fixture.scratch.path("verified"))
    }

    @Test(
        "openssl cms verifies the signature of a token with and without applicationData",
        arguments: SandboxFixture.Key.allCases)
    func accepted(key: SandboxFixture.Key) throws {
        let certificate = try fixture.certificate(key)
        for data in [nil, Array("order 4711".utf8)] {
            let minted = try fixture.authority.mintToken(
                fixture.parameters { $0.applicationData = data }, certificate: certificate)
            let token = try ParsedToken(minted.json)
            let content = try token.signedContent
            let outcome = try verify(token.signature, over: content)
            #expect(outcome.status == 0, "\(outcome.error)")
            #expect(try fixture.scratch.bytes("verified") == content)
            #expect((token.header["applicationData"] != nil) == (data != nil))
        }
    }

    @Test("openssl cms rejects a signature over changed content", arguments: SandboxFixture.Key.allCases)
    func rejected(key: SandboxFixture.Key) throws {
        let minted = try fixture.authority.mintToken(fixture.parameters(), certificate: fixture.certificate(key))
        let token = try ParsedToken(minted.json)
        let content = try token.signedContent
        for changed in [content + [0], Array(content.dropLast()), [content[0] ^ 1] + content.dropFirst()] {
            #expect(try verify(token.signature, over: changed).status != 0)
        }
    }

    /// Returns the lines of `openssl asn1parse` without offsets and lengths: depth, `inf` or `def` for an indefinite or
    /// definite length, and tag.
    private func structure(of signature: [UInt8]) throws -> [String] {
        let outcome = try Programs.openssl(
            "asn1parse", "-inform", "DER", "-in", fixture.scratch.write(signature, "signature"))
        try #require(outcome.status == 0, "\(outcome.error)")
        return outcome.output.split(separator: "\n").compactMap { line in
            guard let match = line.firstMatch(of: /d=(\d+)\s+hl=\d+ l=\s*(\w+)\s+(cons|prim): (.*)$/),
                let depth = Int(match.1)
            else { return nil }
            let kind = match.4.prefix { $0 != "[" && $0 != ":" }.trimmingCharacters(in: .whitespaces)
            let isTagged = match.4.hasPrefix("cont [")
            let length = match.2 == "inf" ? "inf" : "def"
            return "\(depth) \(length) \(isTagged ? String(match.4.prefix(10)) : kind)"
        }
    }

    @Test("A signature has Apple's structure: indefinite lengths, signing certificate first, four signed attributes")
    func appleStructure() throws {
        let token = try ParsedToken(
            fixture.authority.mintToken(fixture.parameters(), certificate: fixture.certificate(.ec)).json)
        let structure = try structure(of: token.signature)
        #expect(
            structure.prefix(12) == [
                "0 inf SEQUENCE", "1 def OBJECT", "1 inf cont [ 0 ]", "2 inf SEQUENCE", "3 def INTEGER", "3 def SET",
                "4 def SEQUENCE", "5 def OBJECT", "3 inf SEQUENCE", "4 def OBJECT", "4 def EOC", "3 inf cont [ 0 ]",
            ])
        #expect(structure.suffix(3) == ["3 def EOC", "2 def EOC", "1 def EOC"])
        let text = try Programs.openssl(
            "cms", "-cmsout", "-print", "-inform", "DER", "-in", fixture.scratch.path("signature")
        ).output
        let attributes = text.matches(of: /object: (\w[\w ]*) \(1\.2\.840\.113549\.1\.9\.\d+\)/).map { String($0.1) }
        #expect(attributes.contains("contentType") && attributes.contains("signingTime"))
        #expect(attributes.contains("messageDigest"))
        #expect(text.contains("1.2.840.113549.1.9.52"))
        let leaf = try #require(text.range(of: "ecc-smp-broker-sign_UC4-SANDBOX"))
        let intermediate = try #require(text.range(of: "1.2.840.113635.100.6.2.14"))
        #expect(leaf.lowerBound < intermediate.lowerBound)
    }

    private static let fixtures = ProcessInfo.processInfo.environment["MERCHANTKEYD_FIXTURES"]

    @Test(
        "A signature has the same structure as that of a real token",
        .enabled(if: fixtures != nil, "MERCHANTKEYD_FIXTURES is not set"),
        arguments: [("ec-new", SandboxFixture.Key.ec), ("rsa", .rsa)])
    func realStructure(name: String, key: SandboxFixture.Key) throws {
        let fixtures = try #require(Self.fixtures)
        let real = try String(contentsOfFile: "\(fixtures)/rolled-merchant/\(name).paymentData.json", encoding: .utf8)
        let realToken = try ParsedToken("{\"paymentData\":\(real)}")
        let token = try ParsedToken(
            fixture.authority.mintToken(fixture.parameters(), certificate: fixture.certificate(key)).json)
        // The certificates have different extensions, so only the elements around them are compared.
        func withoutCertificates(_ structure: [String]) -> [String] {
            let start = structure.firstIndex(of: "3 inf cont [ 0 ]").map { $0 + 1 } ?? 0
            let end = structure[start...].firstIndex(of: "4 def EOC") ?? start
            return Array(
                structure[..<start] + structure[start..<end].filter { $0.hasPrefix("4 ") } + structure[end...])
        }
        #expect(
            try withoutCertificates(structure(of: token.signature))
                == withoutCertificates(structure(of: realToken.signature)))
    }

    @Test("The signing time is written as UTCTime")
    func signingTime() throws {
        let parameters = fixture.parameters { $0.signingTime = Timestamp(millisecondsSince1970: 1_694_612_978_000) }
        let token = try ParsedToken(fixture.authority.mintToken(parameters, certificate: fixture.certificate(.ec)).json)
        try fixture.scratch.write(token.signature, "signature")
        let text = try Programs.openssl("asn1parse", "-inform", "DER", "-in", fixture.scratch.path("signature")).output
        #expect(text.contains(/UTCTIME\s+:230913134938Z/))
    }

    @Test("A signing time outside the range of UTCTime is rejected")
    func signingTimeOutOfRange() throws {
        let certificate = try fixture.certificate(.ec)
        let parameters = fixture.parameters { $0.signingTime = Timestamp(millisecondsSince1970: 2_524_608_000_000) }
        #expect(throws: SandboxError.self) { try fixture.authority.mintToken(parameters, certificate: certificate) }
    }
}
