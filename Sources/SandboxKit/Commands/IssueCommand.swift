import ArgumentParser
import Vocabulary

/// `applepay-sandbox issue`
struct IssueCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "issue",
        abstract: "Issue a certificate for a CSR, as Apple's developer portal does.",
        discussion: """
            The CSR's key must be EC(P-256) or RSA(2048) for a payment processing certificate, and RSA(2048) for an \
            identity certificate. The signature of the CSR must be valid. The subject of the CSR is ignored.

            Example: applepay-sandbox issue --directory apple --csr key.csr --merchant merchant.com.example --out key.cer
            """)

    @OptionGroup var hierarchy: HierarchyOptions

    @Option(
        help: ArgumentHelp("The CSR, PEM or DER; - for the standard input.", valueName: "file"), completion: .file())
    var csr: String

    @Option(help: ArgumentHelp("The merchant identifier.", valueName: "id"), transform: MerchantIdentifier.argument)
    var merchant: MerchantIdentifier

    @Option(
        help: ArgumentHelp("The file for the certificate, DER; - for the standard output.", valueName: "file.cer"),
        completion: .file())
    var out: String

    @Option(help: "The purpose of the certificate: paymentProcessing or identity.")
    var purpose = KeyPurpose.paymentProcessing

    @Option(
        help: ArgumentHelp("The start of the validity period, RFC 3339 (default: now).", valueName: "time"),
        transform: Timestamp.argument)
    var notBefore: Timestamp?

    @Option(
        help: ArgumentHelp(
            "The end of the validity period, RFC 3339 (default: 760 days after the start).", valueName: "time"),
        transform: Timestamp.argument)
    var notAfter: Timestamp?

    func run() throws {
        let authority = try hierarchy.authorityDirectory.load()
        let certificate = try authority.issue(
            csr: Files.read(csr), merchant: merchant, purpose: purpose, notBefore: notBefore ?? .now,
            notAfter: notAfter)
        try Files.write(certificate, to: out)
    }
}

extension KeyPurpose: ExpressibleByArgument {}
