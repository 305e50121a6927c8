import ArgumentParser
import MerchantKeyClient
import WireAPI

struct MerchantTokenUnlink: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlink", abstract: "Unlink a merchant token at Apple, so that it can't be used for payments.",
        discussion: """
            Unlink a token when the subscription or order that it pays for has ended. This can't be undone: for further \
            payments, the customer must authorize a new payment with Apple Pay.
            """,
        examples: ["merchant-token unlink DAPLMC00002011616b5e5fd --dry-run"])

    @OptionGroup var argument: MerchantTokenArgument
    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let token = argument.token
        try await global.withAdminClient { admin in
            if confirmation.dryRun || !confirmation.yes {
                let plan = try await admin.unlink(token, dryRun: true)
                if confirmation.dryRun {
                    try global.printer.show(plan.json) { plan.document.blocks }
                    global.printer.note("would unlink \(token), a token of \(plan.document.merchantIdentifier)")
                    return
                }
                global.printer.alwaysNote("would unlink \(token), a token of \(plan.document.merchantIdentifier)")
                try confirmation.confirm("unlink \(token), which can't be undone")
            }
            let response = try await admin.unlink(token, dryRun: false)
            try global.printer.show(response.json) { response.document.blocks }
        }
    }
}
