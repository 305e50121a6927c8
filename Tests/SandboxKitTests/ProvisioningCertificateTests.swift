import Foundation
import MerchantTestSupport
import PassProvisioning
import SandboxKit
import Testing
import Vocabulary

@Suite(.enabled(if: Programs.hasOpenSSL, "openssl is not installed"))
struct ProvisioningCertificateTests {
    private func text(_ fixture: ProvisioningFixture) throws -> String {
        try fixture.sandbox.scratch.write(fixture.credentials.leaf, "leaf.cer")
        let outcome = try Programs.openssl(
            "x509", "-inform", "DER", "-in", fixture.sandbox.scratch.path("leaf.cer"), "-noout", "-text", "-nameopt",
            "sep_comma_plus,sname,show_type")
        try #require(outcome.status == 0, "\(outcome.error)")
        return outcome.output
    }

    @Test func `the leaf has the names, key usage and critical marker of Apple's`() throws {
        let fixture = try ProvisioningFixture()
        let text = try text(fixture)
        #expect(
            text.contains(
                "Subject: CN=UTF8STRING:ecc-crypto-services-encipherment_UC6-SANDBOX,OU=UTF8STRING:iOS Systems"))
        #expect(text.contains("Issuer: CN=UTF8STRING:Sandbox Worldwide Developer Relations CA - G2"))
        #expect(text.contains("Signature Algorithm: ecdsa-with-SHA256") && text.contains("prime256v1"))
        #expect(text.contains(/Basic Constraints: critical\n\s+CA:FALSE/))
        #expect(text.contains(/Key Usage: critical\n\s+Key Encipherment, Key Agreement\n/))
        // The value of the marker is NULL: the two bytes 05 00, which openssl prints as dots.
        #expect(text.contains(/1\.2\.840\.113635\.100\.6\.39: critical\n\s+\.\.\n/))
        #expect(text.contains("Policy: 1.2.840.113635.100.5.1\n"))
    }

    @Test func `the leaf chains over the sub-CA to the root, and the private key belongs to the leaf`() throws {
        let fixture = try ProvisioningFixture()
        let scratch = fixture.sandbox.scratch
        try scratch.write(fixture.credentials.privateKey, "leaf.key")
        try scratch.write(fixture.credentials.leaf, "leaf.cer")
        // openssl refuses unknown critical extensions, so it must ignore the marker.
        let chain = try Programs.openssl(
            "verify", "-ignore_critical", "-CAfile", scratch.path("root.pem"), "-untrusted",
            scratch.path("issuers.pem"), scratch.path("leaf.cer"))
        #expect(chain.status == 0, "\(chain.error)")
        let ofCertificate = try Programs.openssl("x509", "-in", scratch.path("leaf.cer"), "-pubkey", "-noout")
        let ofKey = try Programs.openssl("pkey", "-in", scratch.path("leaf.key"), "-pubout")
        #expect(ofCertificate.output == ofKey.output && ofKey.output.contains("PUBLIC KEY"))
        let findings = try fixture.certificates().findings(trust: fixture.trust(), at: Date())
        #expect(findings == [])
    }

    @Test(
        "each fault of a leaf is found by the right check",
        arguments: [
            (.noMarker, ["markerMissing"]),
            (.otherMarker, ["markerMissing", "unknownCriticalExtension"]),
            (.markerNotCritical, ["markerNotCritical"]),
            (.wrongKeyUsage, ["wrongKeyUsage"]),
            (.selfSigned, ["selfSignedLeaf"]),
            (.otherIssuer, ["namesDoNotChain"]),
            (.p384, ["wrongLeafKey"]),
            (.rsa, ["wrongLeafKey"]),
        ] as [(ProvisioningCertificateFault, [String])])
    func faults(fault: ProvisioningCertificateFault, codes: [String]) throws {
        let fixture = try ProvisioningFixture(fault: fault)
        let findings = try fixture.certificates().findings(trust: fixture.trust(), at: Date())
        #expect(findings.map(\.code) == codes)
    }

    @Test func `the sandbox's certificates are refused in production`() throws {
        let fixture = try ProvisioningFixture()
        let findings = try fixture.certificates().findings(trust: ProvisioningTrust(), at: Date())
        #expect(findings.map(\.code).contains("testCertificate"))
        #expect(findings.map(\.code).contains("untrustedRoot"))
    }

    @Test func `the validity period has 760 days by default, and must not be empty`() throws {
        let authority = try SandboxFixture().authority
        let start = try #require(Timestamp(rfc3339: "2018-06-01T22:14:15Z"))
        let credentials = try authority.issueProvisioningCredentials(notBefore: start)
        let summary = try ProvisioningCertificates([Data(credentials.leaf), Data(credentials.subCA)]).summary
        #expect(Timestamp(summary.leaf.notBefore) == start)
        #expect(Timestamp(summary.leaf.notAfter) == Timestamp(rfc3339: "2020-06-30T22:14:15Z"))
        #expect(throws: SandboxError.self) {
            try authority.issueProvisioningCredentials(notBefore: start, notAfter: start)
        }
    }
}
