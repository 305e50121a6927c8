import ArgumentParser
import FoundationEssentials
import PassProvisioning
import StrictJSON
import Vocabulary

struct ProvisioningVerifyCertificates: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify-certificates",
        abstract: "Verify the two certificates that Wallet handed to the app, and print each check.",
        discussion: """
            The files have the leaf and the intermediate CA that issued it, together or one in each file: DER, PEM, \
            Base64, or JSON with the field 'certificates'. Exit status 1 if a check fails.
            """,
        examples: [
            "provisioning verify-certificates leaf.cer sub-ca.cer",
            "provisioning verify-certificates wallet.json --environment sandbox --root apple/root.pem",
        ])

    @Argument(help: "The files; '-' is standard input.", completion: .file())
    var files: [String]

    @OptionGroup var trustOptions: ProvisioningTrustOptions
    @OptionGroup var global: GlobalOptions

    func run() throws {
        let trust = try trustOptions.trust()
        var encoded: [String] = []
        for file in files { encoded += try ProvisioningCertificateFile.read(file).certificates }
        let certificates: ProvisioningCertificates
        do { certificates = try ProvisioningCertificates(base64: encoded) } catch { throw CommandFailure(error) }
        let report = CertificateReport(
            certificates, findings: certificates.findings(trust: trust, at: trustOptions.time), trust: trust)
        switch global.output {
        case .json: global.printer.json(report.document)
        case .table: global.printer.show(report.blocks)
        }
        guard report.findings.isEmpty else {
            throw CommandFailure(
                .failed,
                "the certificates are not verified; the failed checks are listed above. Do not encrypt card data to these certificates"
            )
        }
    }
}
