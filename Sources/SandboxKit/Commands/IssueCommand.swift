import ArgumentParser
import Vocabulary

/// `applepay-sandbox issue`
struct IssueCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "issue",
        abstract: "Issue a certificate for a CSR, as Apple's developer portal does.",
        discussion: """
            The CSR's key must be EC(P-256) or RSA(2048) for a payment processing certificate, and RSA(2048) for an \
            identity certificate. The signature of the CSR must be valid. With --merchant, the subject of the \
            CSR is ignored.

            With a directory, issues a certificate for each CSR in it: each file whose name ends in .csr, \
            .certSigningRequest or .pem. The certificate of NAME.csr is NAME.cer. A certificate that exists is kept, \
            so the command can be repeated.

            Examples:
              applepay-sandbox issue --directory apple --csr key.csr --merchant merchant.com.example --out key.cer
              applepay-sandbox issue --directory apple csrs
              applepay-sandbox issue --directory apple csrs --out-directory certificates
            """)

    @OptionGroup var hierarchy: HierarchyOptions

    @Argument(help: ArgumentHelp("A CSR, or a directory with CSRs.", valueName: "file|directory"), completion: .file())
    var path: String?

    @Option(
        help: ArgumentHelp(
            "The CSR, PEM or DER, or a directory with CSRs; - for the standard input.", valueName: "file|directory"),
        completion: .file())
    var csr: String?

    @Option(
        help: ArgumentHelp(
            "The merchant identifier. With a directory, its default is the identifier in the subject of each CSR.",
            valueName: "id"), transform: MerchantIdentifier.argument)
    var merchant: MerchantIdentifier?

    @Option(
        help: ArgumentHelp("The file for the certificate, DER; - for the standard output.", valueName: "file.cer"),
        completion: .file())
    var out: String?

    @Option(
        help: ArgumentHelp(
            "The directory for the certificates of a directory with CSRs (default: the same directory).",
            valueName: "directory"), completion: .directory)
    var outDirectory: String?

    @Option(
        help: """
            The purpose of the certificate: paymentProcessing or identity (default: paymentProcessing; with a \
            directory, identity for each CSR whose file name ends in -identity before the suffix).
            """)
    var purpose: KeyPurpose?

    @Option(
        help: ArgumentHelp("The start of the validity period, RFC 3339 (default: now).", valueName: "time"),
        transform: Timestamp.argument)
    var notBefore: Timestamp?

    @Option(
        help: ArgumentHelp(
            "The end of the validity period, RFC 3339 (default: 760 days after the start).", valueName: "time"),
        transform: Timestamp.argument)
    var notAfter: Timestamp?

    func validate() throws {
        guard (path == nil) != (csr == nil) else {
            throw ValidationError(
                path == nil
                    ? "name a CSR or a directory with CSRs"
                    : "--csr can't be combined with another CSR; omit one of the two")
        }
        if Files.isDirectory(source) {
            guard out == nil else {
                throw ValidationError("--out is for one CSR; use --out-directory with a directory")
            }
        } else {
            guard merchant != nil, out != nil else {
                throw ValidationError("a single CSR needs --merchant and --out")
            }
            guard outDirectory == nil else {
                throw ValidationError("--out-directory is for a directory with CSRs; use --out with a single CSR")
            }
        }
    }

    /// The path of the CSR or the directory. ``validate()`` has checked that either ``path`` or ``csr`` is given.
    private var source: String { path ?? csr ?? "" }

    func run() throws {
        let authority = try hierarchy.authorityDirectory.load()
        guard let out, let merchant else {
            let issuance = DirectoryIssuance(
                authority: authority, merchant: merchant, purpose: purpose, notBefore: notBefore ?? .now,
                notAfter: notAfter)
            return try issuance.run(in: source, to: outDirectory ?? source)
        }
        let certificate = try authority.issue(
            csr: Files.read(source), merchant: merchant, purpose: purpose ?? .paymentProcessing,
            notBefore: notBefore ?? .now, notAfter: notAfter)
        try Files.write(certificate, to: out)
    }
}

extension KeyPurpose: ExpressibleByArgument {}
