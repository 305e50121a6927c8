import Foundation
import KeyCustody
import MerchantCore
import Testing
import Vocabulary

/// Checks certificate chains that openssl created against lists of CAs.
@Suite struct IssuerTests {
    let authorities: TestAuthorities

    /// `root` signs `issuing`, which signs `leaf`. `impostor` has the name of `root` and another key.
    init() throws {
        authorities = try TestAuthorities()
        try authorities.makeRoot("root")
        try authorities.makeRoot("impostor", named: "root")
        try authorities.issue("issuing", .authority, by: "root", days: 20)
        try authorities.issue("leaf", by: "issuing", days: 10)
    }

    private func chainRefusal(_ leaf: String, under names: [String], after days: Int = 0) async throws -> ChainRefusal?
    {
        try await authorities.refusal(of: leaf, under: names, after: days)
    }

    private func finding(_ issuers: CertificateIssuers?) async throws -> IssuerFinding {
        let custody = try CustodyFixture(issuers: issuers).custody
        let facts = try custody.readCertificate(try authorities.pem("leaf"))
        return await custody.issuerFinding(for: facts, at: Timestamp.now.adding(.seconds(60)))
    }

    @Test func `without the setting the finding is notConfigured`() async throws {
        #expect(try await finding(nil) == .notConfigured)
    }

    @Test func `a chain to a listed root is verified`() async throws {
        try authorities.issue("direct", by: "root")
        #expect(try await chainRefusal("leaf", under: ["issuing", "root"]) == nil)
        #expect(try await chainRefusal("leaf", under: ["impostor", "root", "issuing"]) == nil)
        #expect(try await chainRefusal("direct", under: ["root"]) == nil)
        #expect(try await finding(authorities.issuers(["issuing", "root"])) == .verified)
    }

    @Test func `several certificates in one PEM file, and DER, are read`() async throws {
        let der = try Tool.openssl("x509 -in root.pem -outform DER", in: authorities.scratch)
        let bundle = try authorities.pem("issuing") + authorities.pem("root")
        for files in [[bundle], [try authorities.pem("issuing"), der]] {
            #expect(try await finding(CertificateIssuers(reading: files)) == .verified)
        }
    }

    @Test func `a chain that ends below a root, lacks a link or matches in name only is refused`() async throws {
        try authorities.issue("direct", by: "root")
        #expect(try await chainRefusal("leaf", under: ["issuing"]) == .issuerNotListed("CN=root"))
        #expect(try await chainRefusal("leaf", under: ["root"]) == .issuerNotListed("CN=issuing"))
        #expect(
            try await chainRefusal("leaf", under: ["issuing", "impostor"]) == .signatureMismatch(issuer: "CN=root"))
        #expect(try await chainRefusal("direct", under: ["impostor"]) == .signatureMismatch(issuer: "CN=root"))
        guard case .untrusted(let why) = try await finding(authorities.issuers(["impostor"])) else {
            Issue.record("trusted without its issuer")
            return
        }
        #expect(why.contains("CN=issuing"))
    }

    @Test func `a certificate is refused after its issuing CA has expired, even if it has not expired itself`()
        async throws
    {
        try authorities.issue("long", by: "issuing", days: 25)
        // CertificateRules, not the check of the chain, checks the certificate's own dates.
        #expect(try await chainRefusal("leaf", under: ["issuing", "root"], after: 19) == nil)
        for leaf in ["leaf", "long"] {
            guard
                case .authorityOutsideValidity("CN=issuing", _) = try await chainRefusal(
                    leaf, under: ["issuing", "root"], after: 21)
            else {
                Issue.record("\(leaf) was trusted after the end of its issuer")
                continue
            }
        }
    }

    @Test func `a renewed CA with the same name and key is accepted after the former one has expired`() async throws {
        try authorities.renew("issuing", as: "renewed", by: "root", days: 30)
        #expect(try await chainRefusal("leaf", under: ["issuing", "renewed", "root"], after: 21) == nil)
    }

    @Test func `a chain longer than a CA's path length is refused`() async throws {
        try authorities.issue("short", .authorityWithoutSubordinates, by: "root")
        try authorities.issue("below", .authority, by: "short")
        try authorities.issue("allowed", by: "short")
        try authorities.issue("tooDeep", by: "below")
        #expect(try await chainRefusal("allowed", under: ["short", "root"]) == nil)
        #expect(try await authorities.isPathInvalid("tooDeep", under: ["below", "short", "root"]))
    }

    @Test func `names outside a CA's name constraints are refused`() async throws {
        try authorities.issue("constrained", .constrainedAuthority, by: "root")
        try authorities.issue("inside", .leafForPermittedName, by: "constrained")
        try authorities.issue("outside", .leafForOtherName, by: "constrained")
        #expect(try await chainRefusal("inside", under: ["constrained", "root"]) == nil)
        #expect(try await authorities.isPathInvalid("outside", under: ["constrained", "root"]))
    }

    @Test func `a critical extension that is not checked is refused in a certificate and in a CA`() async throws {
        try authorities.issue("odd", .leafWithUnknownCriticalExtension, by: "issuing")
        #expect(
            try await chainRefusal("odd", under: ["issuing", "root"]) == .criticalExtension("1.2.3.4.5", of: "CN=odd"))
        try authorities.issue("oddCA", .authorityWithUnknownCriticalExtension, by: "root")
        try authorities.issue("underOdd", by: "oddCA")
        #expect(
            try await chainRefusal("underOdd", under: ["oddCA", "root"])
                == .criticalExtension("1.2.3.4.5", of: "CN=oddCA"))
    }

    @Test func `a critical extended key usage is accepted in a certificate and refused in a CA`() async throws {
        try authorities.issue("client", .leafWithCriticalUsage, by: "issuing")
        #expect(try await chainRefusal("client", under: ["issuing", "root"]) == nil)
        try authorities.issue("usageCA", .authorityWithCriticalUsage, by: "root")
        try authorities.issue("underUsage", by: "usageCA")
        #expect(try await authorities.isPathInvalid("underUsage", under: ["usageCA", "root"]))
    }

    @Test func `a self-issued CA that another key signed is not a root`() async throws {
        try authorities.issue("rollover", .authority, by: "root", named: "root")
        try authorities.issue("underRollover", by: "rollover")
        #expect(try await chainRefusal("underRollover", under: ["rollover"]) == .signatureMismatch(issuer: "CN=root"))
        #expect(try await chainRefusal("underRollover", under: ["rollover", "root"]) == nil)
    }

    @Test(arguments: [
        TestAuthorities.Section.leaf, .authorityWithoutBasicConstraints, .authorityWithoutSigningUsage,
        .authorityWithUnreadableUsage,
    ])
    func `a certificate that may not sign certificates cannot be listed as a CA`(
        section: TestAuthorities.Section
    ) throws {
        try authorities.issue("other", section, by: "root")
        let pem = try authorities.pem("other")
        #expect(refusal { try CertificateIssuers(reading: [pem]) }?.code == .certificateWrongKind)
    }

    @Test func `a file without a certificate cannot be listed`() throws {
        #expect(refusal { try CertificateIssuers(reading: [[]]) }?.code == .certificateMalformed)
        #expect(refusal { try CertificateIssuers(reading: []) }?.code == .certificateMalformed)
    }

    @Test(.enabled(if: Fixtures.arePresent, "MERCHANTKEYD_FIXTURES is not set"))
    func `the real certificates chain through Apple's CA to Apple's root`() async throws {
        let files = ["AppleWWDRCA-G2", "AppleRootCA-G3"].map { "apple-ca/\($0).cert.pem" }
        let issuers = try CertificateIssuers(reading: try files.map(Fixtures.read))
        #expect(issuers.containsApplePaymentProcessingIssuer)
        #expect(try !CertificateIssuers(reading: [Fixtures.read(files[1])]).containsApplePaymentProcessingIssuer)
        let custody = try CustodyFixture(issuers: issuers).custody
        for name in ["ec-old", "ec-new", "rsa"] {
            let facts = try custody.readCertificate(try Fixtures.read("rolled-merchant/\(name).cert.pem"))
            #expect(await issuers.refusal(of: facts, at: .now) == nil)
            #expect(await custody.issuerFinding(for: facts, at: .now) == .verified)
        }
    }
}
