import Crypto
import FoundationEssentials
import PassProvisioning
import Testing
import Vocabulary
import X509

@Suite struct TrustedRootTests {
    @Test func `the built-in root has the published fingerprint of Apple Root CA - G3`() {
        #expect(
            Hex.encode(SHA256.hash(data: ProvisioningTrust.appleRootCAG3))
                == "63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179")
    }

    @Test func `without settings, the built-in root is trusted in production and validity is checked`() throws {
        let trust = try ProvisioningTrust()
        #expect(trust.environment == .production)
        #expect(trust.validityPeriod == .checked)
        let certificates = try ProvisioningCertificates(TestChain().sent())
        #expect(certificates.findings(trust: trust, at: TestChain.now).map(\.kind) == [.untrustedRoot])
    }

    @Test func `a list of roots is refused if it is empty or has anything but roots that may sign sub-CAs`() throws {
        let chain = try TestChain()
        let root = try chain.root.encoded()
        var unsigned = chain
        unsigned.root.signer = .init(P384.Signing.PrivateKey())
        var withoutSubCAs = chain
        withoutSubCAs.root.basicConstraints = .isCertificateAuthority(maxPathLength: 0)
        let cases: [([Data], CertificateFinding)] = [
            ([], .noRoots),
            ([Data()], .malformedRoot(position: 1)),
            ([root, root + [0]], .malformedRoot(position: 2)),
            ([root, try chain.subCA.encoded()], .notARoot(position: 2)),
            ([try chain.leaf.encoded()], .notARoot(position: 1)),
            ([try unsigned.root.encoded()], .notARoot(position: 1)),
            ([try withoutSubCAs.root.encoded()], .notARoot(position: 1)),
        ]
        for (roots, finding) in cases {
            #expect(throws: finding) { try ProvisioningTrust(roots: roots) }
        }
    }
}
