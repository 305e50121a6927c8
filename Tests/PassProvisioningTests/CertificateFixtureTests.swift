import Crypto
import Foundation
import PassProvisioning
import Testing
import Vocabulary

/// Apple's certificates of 2018, from the directory that the environment variable `MERCHANTKEYD_FIXTURES` names.
enum CertificateFixture {
    static let directory = ProcessInfo.processInfo.environment["MERCHANTKEYD_FIXTURES"]
    static let isAvailable = directory != nil

    /// The certificate in a PEM file, in DER.
    static func der(_ name: String) throws -> Data {
        let url = URL(filePath: "\(directory ?? "")/provisioning/\(name).cert.pem")
        let lines = try String(contentsOf: url, encoding: .utf8).split(whereSeparator: \.isNewline)
        let text = lines.filter { !$0.hasPrefix("-----") }.joined()
        return try #require(Data(base64Encoded: text))
    }
}

@Suite(.enabled(if: CertificateFixture.isAvailable, "MERCHANTKEYD_FIXTURES is not set"))
struct CertificateFixtureTests {
    /// Within the validity period of the leaf, and after it.
    static let in2019 = Timestamp(rfc3339: "2019-01-01T00:00:00Z")
    static let in2026 = Timestamp(rfc3339: "2026-01-01T00:00:00Z")
    let leaf: Data
    let subCA: Data

    init() throws {
        leaf = try CertificateFixture.der("leaf-2018")
        subCA = try CertificateFixture.der("sub-ca")
    }

    @Test func `Apple's certificates verify at their time in either order`() throws {
        let time = try #require(Self.in2019).date
        for sent in [[leaf, subCA], [subCA, leaf]] {
            let certificates = try ProvisioningCertificates(sent)
            #expect(certificates.findings(trust: try ProvisioningTrust(), at: time) == [])
            let verified = try certificates.verified(trust: ProvisioningTrust(), at: time)
            // From the output of openssl x509 -text.
            #expect(
                Hex.encode(verified.leafPublicKey.x963Representation)
                    == "04b3095c90197deccb25b6688ea7c9f3507bebe38f38d4e2b2ced198968956594a"
                    + "613361f002148f2db831620cbbfd5d6ac711e5f4ff236d1958f0033a5a9d66ff")
        }
    }

    @Test func `Apple's expired leaf is refused, unless validity periods are ignored`() throws {
        let time = try #require(Self.in2026).date
        let certificates = try ProvisioningCertificates([leaf, subCA])
        let expiry = try #require(Timestamp(rfc3339: "2020-06-30T22:14:15Z")).date
        #expect(
            certificates.findings(trust: try ProvisioningTrust(), at: time) == [.expired(.leaf, since: expiry)])
        #expect(
            certificates.findings(trust: try ProvisioningTrust(), at: Date.now).first?.kind == .expired)
        let lenient = try ProvisioningTrust(validityPeriod: .ignored)
        #expect(certificates.findings(trust: lenient, at: time) == [])
    }

    @Test func `Apple's certificates do not chain to another root`() throws {
        let time = try #require(Self.in2019).date
        let trust = try TestChain().trust()
        #expect(
            try ProvisioningCertificates([leaf, subCA]).findings(trust: trust, at: time).map(\.kind)
                == [.untrustedRoot])
    }

    @Test func `Apple's leaf under a test sub-CA that only has the common name of Apple's is refused`() throws {
        let time = try #require(Self.in2019).date
        let other = try TestChain().subCA.encoded()
        let findings = try ProvisioningCertificates([leaf, other]).findings(trust: ProvisioningTrust(), at: time)
        #expect(findings.contains { $0.kind == .namesDoNotChain })
        #expect(findings.contains { $0.kind == .untrustedRoot })
    }

    @Test func `any changed byte of the signed part of either certificate is detected`() throws {
        let time = try #require(Self.in2019).date
        let trust = try ProvisioningTrust()
        var accepted: [String] = []
        for (name, der) in [("leaf", leaf), ("subCA", subCA)] {
            // A certificate is `30 82 xx xx`, followed by the signed part: `30 82 hh ll` and 256 * hh + ll bytes.
            let length = Int(der[6]) * 256 + Int(der[7])
            for index in 4..<8 + length {
                var changed = der
                changed[index] ^= 1
                let sent = name == "leaf" ? [changed, subCA] : [leaf, changed]
                guard let certificates = try? ProvisioningCertificates(sent) else { continue }
                if certificates.findings(trust: trust, at: time).isEmpty { accepted.append("\(name) \(index)") }
            }
        }
        #expect(accepted == [])
    }
}
