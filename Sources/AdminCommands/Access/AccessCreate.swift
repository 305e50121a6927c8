import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct AccessCreate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Let a machine call the portal, and print its access token.",
        discussion: """
            The machine sends the token in the header 'Authorization: Bearer TOKEN'. The daemon stores only a hash of \
            the token, so it can't show the token again.
            """,
        examples: [
            "access create shop-portal --permit onboard --all-merchants --expires 90d",
            "access create shop-portal --permit onboard --merchant merchant.com.example",
            "access create checkout --permit merchantSession --all-merchants",
        ])

    @Argument(
        help: "A name for the access: 1 to 64 letters, digits, '.', '_' or '-'. The audit records the name.",
        transform: AccessName.parse)
    var name: AccessName

    @Option(
        name: .customLong("permit"), parsing: .singleValue,
        help: ArgumentHelp(
            "Give this permit; repeat the option to give several permits.",
            discussion: """
                onboard: read the merchants, generate key pairs, upload certificates, start rolls, register domains, \
                invite people. merchantSession: request merchant sessions from Apple. read: no request to the portal \
                needs this permit in this version.
                """, valueName: "permit"))
    var permits: [AccessPermitArgument]

    @Option(
        name: .customLong("merchant"), parsing: .singleValue,
        help: ArgumentHelp(
            "Give the permits for this merchant; repeat the option to name several merchants.", valueName: "id"),
        transform: MerchantIdentifier.parse)
    var merchants: [MerchantIdentifier] = []

    @Flag(help: "Give the permits for every merchant, including merchants that are added later.")
    var allMerchants = false

    @Option(
        help: ArgumentHelp(
            "Let the access expire after this time, such as 90d. Default: the access does not expire.",
            valueName: "duration"), transform: ExpiryArgument.parse)
    var expires: ExpiryArgument?

    @Option(
        help: ArgumentHelp(
            "Let the machine authenticate with this TLS client certificate (PEM or DER) instead of a token.",
            valueName: "file"))
    var clientCertificate: String?

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard allMerchants == merchants.isEmpty else {
            throw ValidationError(
                allMerchants
                    ? "--all-merchants can't be combined with --merchant; omit one of the two"
                    : "name each merchant with --merchant, or use --all-merchants")
        }
    }

    func run() async throws {
        var fields = CreateAccessRequest(name, permits: permits.map(\.rawValue))
        fields.merchants = allMerchants ? nil : merchants
        fields.allMerchants = allMerchants ? true : nil
        fields.expiresAt = expires?.timeFromNow
        fields.clientCertificate = try clientCertificate.map(ClientCertificateFile.read)
        let request = fields
        try await global.withAdminClient { admin in
            let response = try await admin.createAccess(request)
            try global.printer.show(response.json) { response.document.blocks }
            response.document.noteToken(global.printer)
            global.printer.warn(response.document.warnings ?? [])
        }
    }
}

/// The values of `--permit`: the permits that a machine can have on the portal.
package enum AccessPermitArgument: String, ExpressibleByArgument, CaseIterable, Sendable {
    case onboard, merchantSession, read
}
