import Foundation
import Testing

/// A database that is used with another environment than before, and a production daemon's findings about unverified
/// issuers and missing backups.
@Suite(.onlyOnSQLite) struct EnvironmentChangeTests {
    let installation: Installation

    init() throws { installation = try Installation() }

    private func config(_ environment: String, _ more: String = "") throws -> String {
        try installation.write("environment: \(environment)\n\(more)", "\(environment).yaml")
    }

    @Test func `a database of another environment is reported by diagnose, the start, status and the audit`() throws {
        let (production, sandbox) = (try config("production"), try config("sandbox"))
        for _ in 0..<2 {
            try installation.start(config: production)
            #expect(try installation.finding("environmentChanged") == nil)
            installation.stop()
        }
        #expect(try installation.diagnose("--config", sandbox).outcome("environment") == "warning")
        try installation.start(config: sandbox)
        #expect(installation.log.contains("finding=environmentChanged"), "\(installation.log)")
        #expect(try installation.finding("environmentChanged")?["severity"] as? String == "warning")
        let records = try installation.auditRecords("environmentChanged")
        #expect(records.count == 1 && records.first?["before"] as? String == "production", "\(records)")
        #expect(records.first?["after"] as? String == "sandbox")
        installation.stop()
        #expect(try installation.diagnose("--config", sandbox).outcome("environment") == nil)
    }

    @Test
    func `an unverified issuer is reported until another upload verifies it, and a missing backup until there is one`()
        throws
    {
        try installation.apple("init")
        try installation.start(config: config("production"))
        #expect(try installation.ctl("merchant", "add", "merchant.com.example").status == 0)
        _ = try installation.certifiedKey("merchant.com.example", "k")
        #expect(try installation.findings().isSuperset(of: ["issuerNotVerified", "backupMissing"]))
        let certificate = installation.path("k.cer")
        let warned = try installation.ctl("certificate", "upload", certificate, "--output", "json")
        #expect(warned.status == 0 && warned.error.contains("trust.certificate-issuers"), "\(warned.error)")
        #expect((try warned.json()["warnings"] as? [String])?.count == 1)
        installation.stop()

        let issuers = ["processing-issuer", "root"].map { installation.path("apple/\($0).pem") }
        try installation.start(
            config: config("production", "trust:\n  certificate-issuers: [\(issuers.joined(separator: ", "))]\n"))
        #expect(try installation.findings().contains("issuerNotVerified"))
        let verified = try installation.ctl("certificate", "upload", certificate)
        #expect(verified.status == 0 && verified.error.isEmpty, "\(verified.error)")
        #expect(try installation.auditRecords("certificateIssuerVerified").count == 1)
        #expect(try !installation.findings().contains("issuerNotVerified"))

        let backup = installation.path("b")
        #expect(try installation.ctl("backup", "create", backup).status == 0)
        #expect(try installation.ctl("backup", "verify", backup).status == 0)
        #expect(try !installation.findings().contains("backupMissing"))
    }
}
