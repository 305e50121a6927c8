import ArgumentParser
import FoundationEssentials
import MerchantKeyClient
import Vocabulary
import WireAPI

struct SessionRequest: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "request", abstract: "Request a merchant session from Apple, and print it unchanged.",
        discussion: """
            The command sends the same request as checkout servers: POST /v1/merchant-sessions. Name the merchant with \
            --merchant if the daemon has an identity certificate of this merchant; otherwise use --partner.

            A session is for one payment and is valid for minutes. Do not store it.
            """,
        examples: [
            "session request --partner shop-1 --display-name \"Example Shop\" --domain shop.example.com",
            "session request --merchant merchant.com.example --display-name Example --team ABCDE12345",
        ])

    @Option(
        help: ArgumentHelp("The merchant that is paid, with an identity certificate of its own.", valueName: "id"),
        transform: MerchantIdentifier.parse)
    var merchant: MerchantIdentifier?

    @Option(
        help: ArgumentHelp(
            "The partnerInternalMerchantIdentifier of the merchant that is paid.", valueName: "partner"),
        transform: PartnerInternalMerchantIdentifier.parse)
    var partner: PartnerInternalMerchantIdentifier?

    @Option(
        help: ArgumentHelp("The name that the buyer sees, 1 to 64 bytes of UTF-8.", valueName: "name"))
    var displayName: String

    @Option(
        help: ArgumentHelp(
            "The domain of the web page on which the buyer pays; with --messages-url, your domain.",
            valueName: "domain"))
    var domain: String?

    @Option(
        help: ArgumentHelp("The team ID of the app in which the buyer pays.", valueName: "team-id"))
    var team: String?

    @Option(
        help: ArgumentHelp(
            "The URL of the Messages for Business gateway, if the buyer pays in a message.", valueName: "url"))
    var messagesURL: String?

    @Option(
        help: ArgumentHelp(
            "The validationURL from Safari. Default: the gateway of the daemon's settings.", valueName: "url"))
    var validationURL: String?

    @OptionGroup var decryptor: DecryptorOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard (merchant == nil) != (partner == nil) else {
            throw ValidationError("name the merchant either with --merchant or with --partner")
        }
        _ = try place()
    }

    func run() async throws {
        let request = try request()
        try await decryptor.withDecryptorClient(global) { client in
            // Not printed with `show`, which would reformat the JSON: the page must get Apple's object unchanged.
            global.printer.raw(try await client.requestMerchantSession(request))
        }
    }

    private func request() throws -> MerchantSessionRequest {
        let place = try place()
        var request = MerchantSessionRequest(
            displayName: displayName, initiative: place.initiative, initiativeContext: place.context)
        request.merchantIdentifier = merchant
        request.partnerInternalMerchantIdentifier = partner
        request.domainName = place.domainName
        request.validationURL = validationURL
        return request
    }

    private func place() throws -> (initiative: String, context: String, domainName: String?) {
        switch (domain, messagesURL, team) {
        case (let domain?, nil, nil): return ("web", domain, nil)
        case (let domain?, let url?, nil): return ("messaging", url, domain)
        case (nil, nil, let team?): return ("in_app", team, nil)
        default:
            throw ValidationError(
                "say where the buyer pays: --domain for a web page, --team for an app, or --messages-url with --domain for a message"
            )
        }
    }
}
