import Foundation
import KeyCustody
import MerchantCore
import Testing
import Vocabulary

@Suite struct IssuerTests {
    let scratch: Scratch

    /// root ← issuing ← leaf, a root of the same name with another key, and a leaf of a stranger.
    init() throws {
        scratch = try Scratch()
        let settings = """
            [req]
            distinguished_name = dn
            [dn]
            [ca]
            basicConstraints = critical, CA:true
            keyUsage = critical, keyCertSign
            [leaf]
            basicConstraints = critical, CA:false
            keyUsage = critical, keyEncipherment
            """
        _ = try scratch.file("x.cnf", Array(settings.utf8))
        try root("root", days: 30)
        try root("impostor", days: 30)
        try issue("issuing", "ca", by: "root", days: 20)
        try issue("leaf", "leaf", by: "issuing", days: 10)
        try issue("direct", "leaf", by: "root", days: 10)
    }

    private func root(_ name: String, days: Int) throws {
        try Tool.openssl("ecparam -name secp384r1 -genkey -noout -out \(name).key", in: scratch)
        try Tool.openssl(
            "req -new -x509 -config x.cnf -extensions ca -key \(name).key -subj /CN=root -days \(days) -out \(name).pem",
            in: scratch)
    }

    private func issue(_ name: String, _ section: String, by issuer: String, days: Int) throws {
        try Tool.openssl("ecparam -name prime256v1 -genkey -noout -out \(name).key", in: scratch)
        try Tool.openssl("req -new -config x.cnf -key \(name).key -subj /CN=\(name) -out \(name).csr", in: scratch)
        try Tool.openssl(
            "x509 -req -in \(name).csr -CA \(issuer).pem -CAkey \(issuer).key -set_serial 2 -days \(days) -extfile x.cnf -extensions \(section) -out \(name).pem",
            in: scratch)
    }

    private func finding(
        _ leaf: String, under names: [String], after days: Int = 0
    ) throws -> IssuerFinding {
        let issuers = try CertificateIssuers(reading: try names.map { try scratch.read("\($0).pem") })
        let custody = try Bench(issuers: issuers).custody
        let facts = try custody.readCertificate(try scratch.read("\(leaf).pem"))
        return custody.issuerFinding(for: facts, at: Timestamp.now.adding(.seconds(60 + days * 86_400)))
    }

    @Test func `without the setting nothing is claimed`() throws {
        let custody = try Bench().custody
        let facts = try custody.readCertificate(try scratch.read("leaf.pem"))
        #expect(custody.issuerFinding(for: facts, at: .now) == .notConfigured)
    }

    @Test func `a signature that chains to a listed root is verified`() throws {
        #expect(try finding("leaf", under: ["issuing", "root"]) == .verified)
        #expect(try finding("leaf", under: ["impostor", "root", "issuing"]) == .verified)
        #expect(try finding("direct", under: ["root"]) == .verified)
    }

    @Test func `several certificates in one PEM file, and DER, are read`() throws {
        let der = try Tool.openssl("x509 -in root.pem -outform DER", in: scratch)
        let both = try scratch.read("issuing.pem") + scratch.read("root.pem")
        for files in [[both], [try scratch.read("issuing.pem"), der]] {
            let custody = try Bench(issuers: try CertificateIssuers(reading: files)).custody
            let facts = try custody.readCertificate(try scratch.read("leaf.pem"))
            #expect(custody.issuerFinding(for: facts, at: Timestamp.now.adding(.seconds(60))) == .verified)
        }
    }

    @Test func `a chain that ends below a root, skips a link or bears only the name is not`() throws {
        for (leaf, names, reason) in [
            ("leaf", ["issuing"], "no CA of that name"), ("leaf", ["root"], "no CA of that name"),
            ("leaf", ["issuing", "impostor"], "signature"), ("direct", ["impostor"], "signature"),
        ] {
            guard case .untrusted(let why) = try finding(leaf, under: names) else {
                Issue.record("\(leaf) under \(names) was trusted")
                continue
            }
            #expect(why.contains(reason))
        }
    }

    @Test func `an issuing CA outside its validity verifies nothing`() throws {
        #expect(try finding("leaf", under: ["issuing", "root"], after: 19) == .verified)
        guard case .untrusted(let why) = try finding("leaf", under: ["issuing", "root"], after: 21) else {
            Issue.record("trusted after its end")
            return
        }
        #expect(why.contains("outside its validity"))
    }

    @Test func `a certificate that is no CA's cannot be listed as one, nor can an empty file`() throws {
        let leaf = try scratch.read("leaf.pem")
        #expect(refusal { try CertificateIssuers(reading: [leaf]) }?.code == .certificateWrongKind)
        #expect(refusal { try CertificateIssuers(reading: [[]]) }?.code == .certificateMalformed)
        #expect(refusal { try CertificateIssuers(reading: []) }?.code == .certificateMalformed)
    }

    @Test(.enabled(if: Fixtures.arePresent, "MERCHANTKEYD_FIXTURES is not set"))
    func `the real certificates chain through Apple's CA to Apple's root`() throws {
        let files = ["AppleWWDRCA-G2", "AppleRootCA-G3"].map { "apple-ca/\($0).cert.pem" }
        let custody = try Bench(issuers: try CertificateIssuers(reading: try files.map(Fixtures.read))).custody
        for name in ["ec-old", "ec-new", "rsa"] {
            let facts = try custody.readCertificate(try Fixtures.read("rolled-merchant/\(name).cert.pem"))
            #expect(custody.issuerFinding(for: facts, at: .now) == .verified)
        }
    }
}
