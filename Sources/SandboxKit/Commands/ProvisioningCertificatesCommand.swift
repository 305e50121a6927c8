import ArgumentParser
import Vocabulary

/// `applepay-sandbox provisioning-certificates`
struct ProvisioningCertificatesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "provisioning-certificates",
        abstract: "Generate the key and the certificates to which issuers encrypt cards for in-app provisioning.",
        discussion: """
            Writes three files: provisioning-leaf.pem, provisioning-sub-ca.pem, and the private key of the leaf, \
            provisioning-leaf.key.pem (mode 0600), with which 'provision' decrypts cards. The leaf has the same fields \
            as Apple's. Existing files are not overwritten.

            With --request, also writes the values that Wallet hands to an app: the certificates, a new nonce and its \
            signature, as fields of a request to the daemon's issuer socket.

            Faults: \(ProvisioningCertificateFault.allCases.map(\.rawValue).joined(separator: ", ")).

            Example: applepay-sandbox provisioning-certificates --directory apple --request wallet.json
            """)

    @OptionGroup var hierarchy: HierarchyOptions

    @Option(
        help: ArgumentHelp(
            "The directory for the files (default: the directory of the CA hierarchy).", valueName: "directory"),
        completion: .directory)
    var outDirectory: String?

    @Option(
        help: ArgumentHelp(
            "The JSON file for the values that Wallet hands to an app; - for the standard output.", valueName: "file"),
        completion: .file())
    var request: String?

    @Option(
        help: ArgumentHelp("The start of the validity period, RFC 3339 (default: now).", valueName: "time"),
        transform: Timestamp.argument)
    var notBefore: Timestamp?

    @Option(
        help: ArgumentHelp(
            "The end of the validity period, RFC 3339 (default: 760 days after the start).", valueName: "time"),
        transform: Timestamp.argument)
    var notAfter: Timestamp?

    @Option(help: ArgumentHelp("A fault of the leaf, for tests (default: none).", valueName: "fault"))
    var fault: ProvisioningCertificateFault?

    func run() throws {
        let files = ProvisioningFiles(directory: outDirectory ?? hierarchy.directory)
        try files.requireAbsent()
        let credentials = try hierarchy.authorityDirectory.load().issueProvisioningCredentials(
            notBefore: notBefore ?? .now, notAfter: notAfter, fault: fault)
        try files.store(credentials)
        guard let request else { return }
        let json = WalletRequest(certificates: [credentials.leaf, credentials.subCA]).json
        try Files.write(Array("\(json)\n".utf8), to: request)
    }
}

extension ProvisioningCertificateFault: ExpressibleByArgument {}
