import ArgumentParser
import MerchantKeyClient
import WireAPI

struct Console: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "console", abstract: "Print a link that signs you in to the portal's pages for operators.",
        discussion: """
            The link is valid for 60 seconds and for one sign-in. The pages show the state of all merchants. You need \
            the permit 'read' for all merchants in the setting 'callers'.
            """)

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdminClient { admin in
            let response = try await admin.createOperatorLogin()
            try global.printer.show(response.json) { [.text(response.document.url)] }
            guard global.output == .table else { return }
            global.printer.note("open this link within 60 seconds; it can be used for one sign-in")
        }
    }
}
