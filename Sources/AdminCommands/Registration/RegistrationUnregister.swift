import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct RegistrationUnregister: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unregister", abstract: "Remove domains of a registration at Apple, or all of it.",
        discussion: """
            Without --domain every domain goes that Apple has. With the last domain the registration is gone, and Apple \
            Pay stops on the merchant's pages.
            """)

    @Argument(help: "The platform's own name for the merchant.", transform: PartnerArgument.parse)
    var partner: PartnerInternalMerchantIdentifier

    @Option(
        name: .customLong("domain"), parsing: .singleValue,
        help: ArgumentHelp("A domain to remove; repeat it for more. Default: all.", valueName: "domain"),
        transform: DomainArgument.parse)
    var domains: [DomainName] = []

    @Option(help: "Why; Apple is told.")
    var reason: String

    @OptionGroup var withdrawal: WithdrawalOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let request = UnregisterRequest(
            domainNames: domains.isEmpty ? nil : domains.map(\.rawValue), reason: reason)
        try await global.withAdmin { admin in
            if withdrawal.dryRun || !withdrawal.yes {
                let plan = try await admin.unregister(partner, request, dryRun: true)
                if withdrawal.dryRun {
                    try global.printer.show(plan.json) { plan.document.blocks }
                    global.printer.warn(plan.document.warnings)
                    return
                }
                for name in plan.document.domainNames { global.printer.remark("would unregister \(name)") }
                global.printer.warn(plan.document.warnings)
                try withdrawal.confirm(
                    "unregister \(plan.document.domainNames.count) domains of \(partner)", global.printer)
            }
            let done = try await admin.unregister(partner, request, dryRun: false)
            try global.printer.show(done.json) { done.document.blocks }
            if withdrawal.yes { global.printer.warn(done.document.warnings) }
        }
    }
}
