import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct MerchantImport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Add the merchants listed in a CSV file.",
        discussion: """
            The first line names the columns: merchantIdentifier, and optionally name and targetActiveKeyPairs (default 2). \
            The file is UTF-8, at most 256 MiB; put a field that contains a comma in quotes. If the file has an error, nothing \
            is imported. Run the command again to continue after an interruption: existing merchants are not changed.
            """,
        examples: [
            "merchant import merchants.csv --dry-run",
            "merchant import merchants.csv --generate-keys --csr-directory csrs",
        ])

    @Argument(help: "The CSV file, or '-' for standard input.", completion: .file())
    var file: String

    @Flag(help: "Generate key pairs until each merchant has as many as its target.")
    var generateKeys = false

    @Option(
        help: ArgumentHelp("Write the CSRs of the generated keys to this directory.", valueName: "directory"),
        completion: .directory)
    var csrDirectory: String?

    @Flag(help: "Check the file, and change nothing.")
    var dryRun = false

    @OptionGroup var bulk: BulkOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard csrDirectory == nil || generateKeys else {
            throw ValidationError("--csr-directory needs --generate-keys")
        }
    }

    func run() async throws {
        let input = InputFile(file)
        let path = input.isStandardInput ? "standard input" : file
        let merchants = try MerchantFile(try input.read(sizeLimit: MerchantFile.sizeLimit), named: path)
        if dryRun {
            let count = merchants.lines.count
            return global.printer.showDryRun("would import \(count.counted("merchant"))", itemCount: count)
        }
        let directory = try csrDirectory.map { path throws(CommandFailure) in try Directory(creating: path) }
        let subcommand = generateKeys ? "merchant import --generate-keys" : "merchant import"
        let report = try bulk.openReport(
            of: subcommand, defaultPath: "\(input.isStandardInput ? "merchant-import" : file).report.jsonl")
        let summary = try await global.withAdminClient(connections: bulk.concurrency) { admin in
            let onboarding = MerchantOnboarding(
                admin: admin, generatesKeys: generateKeys, directory: directory,
                runStart: try await admin.status().document.time)
            var remainingLines = merchants.lines[...]
            return try await BulkRun(report: report, concurrency: bulk.concurrency, isQuiet: global.quiet).run(
                total: merchants.lines.count
            ) {
                remainingLines.popFirst()
            } act: { line, _ in
                try await onboarding.onboard(line)
            }
        }
        try summary.printAndThrowIfFailed(global.printer)
    }
}
