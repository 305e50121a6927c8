import ArgumentParser
import MerchantKeyClient
import StrictJSON

struct AuditExport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write audit records to standard output as JSON lines, oldest first.",
        examples: ["audit export --since 2026-11-01T00:00:00Z"])

    @OptionGroup var options: AuditOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdminClient { admin in
            let query = try await options.query(resolvingKeyWith: admin)
            try await admin.eachAuditPage(query) { page in
                guard case .object(let object) = try Printer.parse(page.json), case .array(let items) = object["items"]
                else {
                    throw ClientError.protocolViolation(
                        "it has no 'items'; use a merchantkeyctl of the same version as the daemon; "
                            + "'merchantkeyctl status' shows the daemon's version")
                }
                StandardStream.output.write(items.map { JSONText.compact($0) + "\n" }.joined())
            }
        }
    }
}
