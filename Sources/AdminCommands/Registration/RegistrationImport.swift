import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct RegistrationImport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Register the merchants listed in a CSV file.",
        discussion: """
            The first line names the columns, in any order: partnerInternalMerchantIdentifier, partnerMerchantName, \
            domainNames (separated by blanks or semicolons), and optionally encryptTo, merchantUrl, merchantIdentifier. The \
            file is UTF-8, at most 64 MiB; put a field that contains a comma in quotes. If the file has an error, nothing is \
            registered, and each error is shown with its line. Run the command again to continue after an \
            interruption: a registration that the report lists as done and the daemon confirms is not sent to Apple \
            again.
            """,
        examples: [
            "registration import merchants.csv --dry-run",
            "registration import merchants.csv",
        ])

    static let subcommand = "registration import"

    @Argument(help: "The CSV file, or '-' for standard input.", completion: .file())
    var file: String

    @Flag(help: "Check the file, and register nothing.")
    var dryRun = false

    @OptionGroup var bulk: BulkOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let input = InputFile(file)
        let path = input.isStandardInput ? "standard input" : file
        let registrations = try RegistrationFile(
            try input.read(sizeLimit: RegistrationFile.sizeLimit), named: path)
        try await global.withAdminClient { try await RegistrationFileCheck(admin: $0).run(registrations, named: path) }
        if dryRun {
            let count = registrations.lines.count
            return global.printer.showDryRun("would register \(count.counted("merchant"))", itemCount: count)
        }
        let report = try bulk.openReport(
            of: Self.subcommand, defaultPath: "\(input.isStandardInput ? "registration-import" : file).report.jsonl")
        let summary = try await global.withAdminClient(connections: bulk.concurrency) { admin in
            var remainingLines = registrations.lines[...]
            return try await BulkRun(report: report, concurrency: bulk.concurrency, isQuiet: global.quiet).run(
                total: registrations.lines.count
            ) {
                remainingLines.popFirst()
            } act: { line, earlier in
                if earlier != nil, try await admin.hasRegistered(line.request) { return .unchanged([:]) }
                let warnings = try await admin.register(line.request).document.warnings
                return .done(warnings.isEmpty ? [:] : ["warnings": warnings.joined(separator: "; ")])
            }
        }
        try summary.printAndThrowIfFailed(global.printer)
    }
}

extension AdminClient {
    /// Whether everything that the line requests is registered according to the daemon's record. The daemon does not
    /// ask Apple.
    fileprivate func hasRegistered(_ request: RegisterRequest) async throws(ClientError) -> Bool {
        let found: RegistrationDocument
        do throws(ClientError) {
            found = try await registration(request.partnerInternalMerchantIdentifier, refresh: false).document
        } catch .refused(let refusal) where refusal.status == 404 {
            return false
        }
        // A field that the line leaves empty requests nothing, so it matches every value.
        func matches<Value: Equatable>(_ requested: Value?, _ found: Value?) -> Bool {
            requested == nil || requested == found
        }
        return found.state == "registered" && found.drift.isEmpty
            && Set(request.domainNames.map(\.rawValue)).isSubset(of: found.domainNames)
            && matches(request.partnerMerchantName, found.partnerMerchantName)
            && matches(request.encryptTo, found.encryptTo)
            && matches(request.merchantUrl, found.merchantUrl)
            && matches(request.merchantIdentifier, found.merchantIdentifier)
    }
}
