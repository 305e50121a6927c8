import Foundation
import SandboxKit
import Testing
import Vocabulary

@Suite(.enabled(if: Programs.hasOpenSSL, "openssl is not installed"))
struct TokenSignatureTests {
    let bench: Bench

    init() throws { bench = try Bench() }

    /// - Returns: what `openssl cms -verify` says; its output is the content it verified.
    private func verify(_ signature: [UInt8], over content: [UInt8]) throws -> Programs.Outcome {
        try Programs.openssl(
            "cms", "-verify", "-binary", "-inform", "DER", "-in", bench.scratch.write(signature, "signature"),
            "-content", bench.scratch.write(content, "content"), "-CAfile", bench.scratch.path("root.pem"),
            "-purpose", "any", "-out", bench.scratch.path("verified"))
    }

    @Test("openssl cms accepts a token's signature, with and without applicationData", arguments: Bench.Key.allCases)
    func accepted(key: Bench.Key) throws {
        let certificate = try bench.certificate(key)
        for data in [nil, Array("order 4711".utf8)] {
            let minted = try bench.authority.mintToken(
                bench.order { $0.applicationData = data }, certificate: certificate)
            let token = try ReadToken(minted.json)
            let content = try token.signedContent
            let outcome = try verify(token.signature, over: content)
            #expect(outcome.status == 0, "\(outcome.error)")
            #expect(try bench.scratch.bytes("verified") == content)
            #expect((token.header["applicationData"] != nil) == (data != nil))
        }
    }

    @Test("openssl cms refuses a signature over anything else", arguments: Bench.Key.allCases)
    func refused(key: Bench.Key) throws {
        let minted = try bench.authority.mintToken(bench.order(), certificate: bench.certificate(key))
        let token = try ReadToken(minted.json)
        let content = try token.signedContent
        for changed in [content + [0], Array(content.dropLast()), [content[0] ^ 1] + content.dropFirst()] {
            #expect(try verify(token.signature, over: changed).status != 0)
        }
    }

    /// Every line of `openssl asn1parse` to the depth of the SignerInfo's members: offsets and lengths left out, but
    /// for whether a length is indefinite.
    private func shape(of signature: [UInt8]) throws -> [String] {
        let outcome = try Programs.openssl(
            "asn1parse", "-inform", "DER", "-in", bench.scratch.write(signature, "signature"))
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

    @Test("a signature has the shape of Apple's: indefinite lengths, leaf first, four signed attributes")
    func spelledShape() throws {
        let token = try ReadToken(
            bench.authority.mintToken(bench.order(), certificate: bench.certificate(.ec)).json)
        let shape = try shape(of: token.signature)
        #expect(
            shape.prefix(12) == [
                "0 inf SEQUENCE", "1 def OBJECT", "1 inf cont [ 0 ]", "2 inf SEQUENCE", "3 def INTEGER", "3 def SET",
                "4 def SEQUENCE", "5 def OBJECT", "3 inf SEQUENCE", "4 def OBJECT", "4 def EOC", "3 inf cont [ 0 ]",
            ])
        #expect(shape.suffix(3) == ["3 def EOC", "2 def EOC", "1 def EOC"])
        let text = try Programs.openssl(
            "cms", "-cmsout", "-print", "-inform", "DER", "-in", bench.scratch.path("signature")
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
        "a signature's CMS is node for node the shape of a real one",
        .enabled(if: fixtures != nil, "MERCHANTKEYD_FIXTURES is not set"),
        arguments: [("ec-new", Bench.Key.ec), ("rsa", .rsa)])
    func realShape(name: String, key: Bench.Key) throws {
        let fixtures = try #require(Self.fixtures)
        let real = try String(contentsOfFile: "\(fixtures)/rolled-merchant/\(name).paymentData.json", encoding: .utf8)
        let realToken = try ReadToken("{\"paymentData\":\(real)}")
        let token = try ReadToken(
            bench.authority.mintToken(bench.order(), certificate: bench.certificate(key)).json)
        // Certificates differ in their extensions and therefore in their nodes; everything around them is the same.
        func aroundCertificates(_ shape: [String]) -> [String] {
            let start = shape.firstIndex(of: "3 inf cont [ 0 ]").map { $0 + 1 } ?? 0
            let end = shape[start...].firstIndex(of: "4 def EOC") ?? start
            return Array(shape[..<start] + shape[start..<end].filter { $0.hasPrefix("4 ") } + shape[end...])
        }
        #expect(
            try aroundCertificates(shape(of: token.signature)) == aroundCertificates(shape(of: realToken.signature)))
    }

    @Test("the signing time is what was ordered, as UTCTime")
    func signingTime() throws {
        let order = bench.order { $0.signingTime = Timestamp(millisecondsSince1970: 1_694_612_978_000) }
        let token = try ReadToken(bench.authority.mintToken(order, certificate: bench.certificate(.ec)).json)
        try bench.scratch.write(token.signature, "signature")
        let text = try Programs.openssl("asn1parse", "-inform", "DER", "-in", bench.scratch.path("signature")).output
        #expect(text.contains(/UTCTIME\s+:230913134938Z/))
    }

    @Test("a signing time that UTCTime can't hold is refused")
    func signingTimeOutOfRange() throws {
        let certificate = try bench.certificate(.ec)
        let order = bench.order { $0.signingTime = Timestamp(millisecondsSince1970: 2_524_608_000_000) }
        #expect(throws: SandboxFault.self) { try bench.authority.mintToken(order, certificate: certificate) }
    }
}
