import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct DomainCheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check whether a domain serves the verification file as Apple requires.",
        discussion: "The daemon connects to the domain as Apple does. Exit status 1 if Apple would refuse the domain.",
        examples: ["domain check shop.example.com"])

    @Argument(help: "The domain name.", transform: DomainName.parse)
    var domain: DomainName

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdminClient { admin in
            let response = try await admin.checkDomain(domain)
            try global.printer.show(response.json) { response.document.blocks }
            guard response.document.passed else {
                let kinds = response.document.findings.map(\.kind).joined(separator: ", ")
                throw CommandFailure(.failed, "Apple would refuse \(domain): \(kinds); details are listed above")
            }
        }
    }
}
