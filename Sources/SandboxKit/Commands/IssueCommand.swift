import ArgumentParser
import Vocabulary

/// `applepay-sandbox issue`
struct IssueCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "issue",
        abstract: "Signs a CSR as Apple's developer portal does, into a .cer file (DER).",
        discussion:
            "Keys: EC(P-256) or RSA(2048) for payment processing, RSA(2048) for identity. "
            + "The CSR's signature must hold; its subject is not copied.")

    @OptionGroup var hierarchy: HierarchyOptions

    @Option(help: ArgumentHelp("The CSR, PEM or DER; - is standard input.", valueName: "file"))
    var csr: String

    @Option(help: ArgumentHelp("The merchant identifier.", valueName: "id"), transform: MerchantIdentifier.argument)
    var merchant: MerchantIdentifier

    @Option(help: ArgumentHelp("Where the certificate goes, DER; - is standard output.", valueName: "file.cer"))
    var out: String

    @Option(help: "What the key is certified for: paymentProcessing or identity.")
    var purpose = KeyPurpose.paymentProcessing

    @Option(
        help: ArgumentHelp("Begin of validity, RFC 3339 (default: now).", valueName: "time"),
        transform: Timestamp.argument)
    var notBefore: Timestamp?

    @Option(
        help: ArgumentHelp("End of validity, RFC 3339 (default: 760 days later).", valueName: "time"),
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
