import ArgumentParser
import MerchantKeyClient
import WireAPI

struct RegistrationImport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Register many merchants out of a CSV file.",
        discussion: """
            The file's first line names its columns, in any order: partnerInternalMerchantIdentifier, \
            partnerMerchantName, domainNames (separated by blanks or semicolons), and if wanted encryptTo, merchantUrl, \
            merchantIdentifier. UTF-8, fields between commas, in quotes where they hold one, at most 64 MiB. A file with a \
            fault is refused whole. A second run goes on where the first one ended.
            """)

    static let verb = "registration import"

    @Argument(help: "The CSV file, or '-'.")
    var file: String

    @OptionGroup var bulk: BulkOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let input = InputFile(file)
        let registrations = try RegistrationFile(
            try input.read(largest: RegistrationFile.largest), named: input.isStandardInput ? "standard input" : file)
        let report = try bulk.open(
            Self.verb, standard: "\(input.isStandardInput ? "registration-import" : file).report.jsonl")
        let summary = try await global.withAdmin(connections: bulk.concurrency) { admin in
            var rest = registrations.lines[...]
            return try await BulkRun(Self.verb, report: report, concurrency: bulk.concurrency).run(
                total: registrations.lines.count
            ) {
                rest.popFirst()
            } act: { line in
                let warnings = try await admin.register(line.request).document.warnings
                return .done(warnings.isEmpty ? [:] : ["warnings": warnings.joined(separator: "; ")])
            }
        }
        try summary.conclude(global.printer)
    }
}
