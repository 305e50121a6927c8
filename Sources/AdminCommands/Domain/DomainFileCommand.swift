import ArgumentParser
import MerchantKeyClient
import WireAPI

struct DomainFileCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "file", abstract: "Print the domain verification file, or store the one that Apple gave.",
        discussion: """
            Without --set the file goes to standard output, byte for byte, and what a merchant has to do with it to \
            standard error. With --output json the file is described, not printed.
            """)

    @Option(
        help: ArgumentHelp("Store this file, at most 64 KiB, or '-'; it replaces the one before.", valueName: "file"))
    var set: String?

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        if let set {
            let bytes = try InputFile(set).read()
            return try await global.withAdmin { admin in
                let answer = try await admin.setDomainFile(bytes)
                try global.printer.show(answer.json) { answer.document.blocks }
            }
        }
        try await global.withAdmin { admin in
            guard global.output == .table else {
                let answer = try await admin.domainFile()
                return try global.printer.show(answer.json) { answer.document.blocks }
            }
            global.printer.raw(try await admin.domainFileBytes())
            for line in Self.instructions { global.printer.remark(line) }
        }
    }

    /// Source: Apple, "Preparing merchant domains for verification"; TN3173.
    private static let instructions = [
        "For the merchant: serve this file, unchanged, on every domain that shows Apple Pay, at",
        "  https://DOMAIN\(Paths.wellKnownDomainFile)",
        "without a file extension, with status 200, without a redirect, a login or a proxy before it, under a publicly",
        "trusted certificate. www.DOMAIN is a domain of its own. Leave it there: then 'domain check DOMAIN', and",
        "'registration register'.",
    ]
}
