import ArgumentParser
import MerchantKeyClient
import WireAPI

struct RegistrationList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List all registrations in the daemon's record.")

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdminClient { admin in
            try global.printer.show(try await admin.registrations(), orTable: RegistrationDocument.table)
        }
    }
}
