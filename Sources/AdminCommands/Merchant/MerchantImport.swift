import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct MerchantImport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Add the merchants of a CSV file.",
        discussion: """
            The file's first line names its columns: merchantIdentifier, and if wanted name and targetActiveKeyPairs \
            (2 unless said). UTF-8, fields between commas, in quotes where they hold one. A file with a fault is refused \
            whole. Run it again to continue after an interruption: merchants that the daemon has already stay as they are.
            """)

    @Argument(help: "The CSV file, or '-'.")
    var file: String

    @Flag(help: "Make each merchant as many key pairs as it is meant to have, counting those it has.")
    var generateKeys = false

    @Option(help: ArgumentHelp("Write the CSRs of the keys that are made there.", valueName: "directory"))
    var csrDirectory: String?

    @Flag(help: "Read the file, say what it holds, and do nothing.")
    var dryRun = false

    @OptionGroup var bulk: BulkOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard csrDirectory == nil || generateKeys else {
            throw ValidationError("--csr-directory has no --generate-keys, expected both")
        }
    }

    func run() async throws {
        let input = InputFile(file)
        let path = input.isStandardInput ? "standard input" : file
        let merchants = try MerchantFile(try input.read(largest: MerchantFile.largest), named: path)
        if dryRun { return global.printer.remark("would import \(merchants.lines.count) merchants") }
        let directory = try csrDirectory.map { path throws(CommandFailure) in try Directory(making: path) }
        let subcommand = generateKeys ? "merchant import --generate-keys" : "merchant import"
        let report = try bulk.open(
            subcommand, standard: "\(input.isStandardInput ? "merchant-import" : file).report.jsonl")
        let summary = try await global.withAdmin(connections: bulk.concurrency) { admin in
            let onboarding = MerchantOnboarding(
                admin: admin, makesKeys: generateKeys, directory: directory,
                begin: try await admin.status().document.time)
            var rest = merchants.lines[...]
            return try await BulkRun(report: report, concurrency: bulk.concurrency).run(
                total: merchants.lines.count
            ) {
                rest.popFirst()
            } act: { line, _ in
                try await onboarding.onboard(line)
            }
        }
        try summary.conclude(global.printer)
    }
}
