import ArgumentParser
import MerchantKeyClient
import WireAPI

struct DomainFileCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "file", abstract: "Print or store the domain verification file.",
        discussion: """
            Without --set, prints the file unchanged to standard output, and instructions for the merchant to standard error. \
            With --output json, prints the file's size and SHA-256, and the time when it was stored, instead.
            """,
        examples: [
            "domain file --set apple-developer-merchantid-domain-association",
            "domain file",
        ])

    @Option(
        help: ArgumentHelp(
            "Store this file, at most 64 KiB, and replace the stored one; '-' reads standard input.", valueName: "file"),
        completion: .file()
    )
    var set: String?

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        if let set {
            let bytes = try InputFile(set).read()
            return try await global.withAdminClient { admin in
                let response = try await admin.setDomainFile(bytes)
                try global.printer.show(response.json) { response.document.blocks }
            }
        }
        try await global.withAdminClient { admin in
            guard global.output == .table else {
                let response = try await admin.domainFile()
                return try global.printer.show(response.json) { response.document.blocks }
            }
            global.printer.raw(try await admin.domainFileBytes())
            for line in Self.instructions { global.printer.note(line) }
        }
    }

    /// Source: Apple, "Preparing merchant domains for verification"; TN3173.
    private static let instructions = [
        "Instructions for the merchant: serve this file, unchanged, on every domain that shows Apple Pay, at",
        "  https://DOMAIN\(Paths.wellKnownDomainFile)",
        "without a file extension, with status 200, without a redirect, a login or a proxy, and with a publicly trusted",
        "certificate. www.DOMAIN is a separate domain. Keep the file there permanently.",
        "After the merchant has done this, run 'domain check DOMAIN' and 'registration register'.",
    ]
}
