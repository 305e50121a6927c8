import ArgumentParser
import MerchantKeyClient
import WireAPI

struct RegistrationList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the registrations that the daemon has stored, without asking Apple.",
        examples: ["registration list"])

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdminClient { admin in
            try global.printer.show(try await admin.registrations(), orTable: RegistrationDocument.table)
        }
    }
}
