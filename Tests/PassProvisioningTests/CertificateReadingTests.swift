import FoundationEssentials
import PassProvisioning
import Testing
import Vocabulary

@Suite struct CertificateReadingTests {
    let leaf: Data
    let subCA: Data

    init() throws {
        let chain = try TestChain()
        leaf = try chain.leaf.encoded()
        subCA = try chain.subCA.encoded()
    }

    private var leafText: String { leaf.base64EncodedString() }
    private var subCAText: String { subCA.base64EncodedString() }

    private func pem(_ der: Data) -> String {
        "-----BEGIN CERTIFICATE-----\n\(der.base64EncodedString())\n-----END CERTIFICATE-----\n"
    }

    @Test func `bytes that are not two different certificates in DER are refused with the reason`() {
        let cases: [([Data], CertificateFinding)] = [
            ([], .wrongCertificateCount(0)),
            ([leaf], .wrongCertificateCount(1)),
            ([leaf, subCA, ProvisioningTrust.appleRootCAG3], .wrongCertificateCount(3)),
            ([leaf, leaf], .sameCertificateTwice),
            ([leaf, Data()], .malformedCertificate(position: 2)),
            ([leaf.dropLast(), subCA], .malformedCertificate(position: 1)),
            ([leaf.prefix(100), subCA], .malformedCertificate(position: 1)),
            ([leaf, subCA + [0]], .malformedCertificate(position: 2)),
            ([leaf + leaf, subCA], .malformedCertificate(position: 1)),
            ([Data([0x30, 0x03, 0x02, 0x01, 0x01]), subCA], .malformedCertificate(position: 1)),
            ([Data(leafText.utf8), subCA], .base64InsteadOfDER(position: 1)),
            ([leaf, Data(pem(subCA).utf8)], .pemInsteadOfDER(position: 2)),
        ]
        for (sent, finding) in cases {
            #expect(throws: finding) { try ProvisioningCertificates(sent) }
        }
    }

    @Test func `texts that are not the Base64 of two different certificates are refused with the reason`() {
        let lines = leaf.base64EncodedString(options: .lineLength64Characters)
        let cases: [([String], CertificateFinding)] = [
            ([leafText], .wrongCertificateCount(1)),
            ([leafText, leafText], .sameCertificateTwice),
            ([Data(leafText.utf8).base64EncodedString(), subCAText], .base64Twice(position: 1)),
            ([leafText, Data(subCAText.utf8).base64EncodedString()], .base64Twice(position: 2)),
            ([Data(lines.utf8).base64EncodedString(), subCAText], .base64Twice(position: 1)),
            ([pem(leaf), subCAText], .pemInsteadOfDER(position: 1)),
            ([leafText, Data(pem(subCA).utf8).base64EncodedString()], .pemInsteadOfDER(position: 2)),
            (["", subCAText], .invalidBase64(position: 1)),
            ([leafText, "no Base64"], .invalidBase64(position: 2)),
            ([leafText + "\n", subCAText], .invalidBase64(position: 1)),
            ([lines, subCAText], .invalidBase64(position: 1)),
            (["AAAA", subCAText], .malformedCertificate(position: 1)),
        ]
        for (sent, finding) in cases {
            #expect(throws: finding) { try ProvisioningCertificates(base64: sent) }
        }
    }

    @Test func `texts and bytes of the same certificates give the same summary`() throws {
        let fromText = try ProvisioningCertificates(base64: [leafText, subCAText]).summary
        #expect(try ProvisioningCertificates([leaf, subCA]).summary == fromText)
        #expect(fromText.leaf.issuer == fromText.subCA.subject)
        #expect(fromText.leaf.notBefore < fromText.leaf.notAfter)
        #expect(fromText.leaf.serialNumber.count == 16)
    }

    /// ecdsa-with-SHA224 in place of ecdsa-with-SHA256, and prime239v3 in place of prime256v1 (RFC 5758, RFC 3279).
    @Test(arguments: zip(["2a8648ce3d040302", "2a8648ce3d030107"], ["2a8648ce3d040301", "2a8648ce3d030106"]))
    func `a certificate with an algorithm unknown to the library is refused`(identifier: String, other: String) throws {
        let known = try #require(Hex.decode(identifier))
        let unknown = try #require(Hex.decode(other))
        let bytes = Array(leaf).replacing(known, with: unknown)
        #expect(bytes != Array(leaf))
        #expect(throws: CertificateFinding.unsupportedAlgorithm(position: 1)) {
            try ProvisioningCertificates([Data(bytes), subCA])
        }
    }
}
