import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct DomainCheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Do what Apple will do with a domain, before Apple is asked.",
        discussion: "The daemon asks the domain. Exit status 1 where Apple would refuse it.")

    @Argument(help: "The domain.", transform: DomainArgument.parse)
    var domain: DomainName

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdmin { admin in
            let answer = try await admin.checkDomain(domain)
            try global.printer.show(answer.json) { answer.document.blocks }
            guard answer.document.fine else {
                let kinds = answer.document.findings.map(\.kind).joined(separator: ", ")
                throw CommandFailure(.refused, "\(domain) is not ready for Apple: \(kinds)")
            }
        }
    }
}
