import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct RegistrationImport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Register many merchants out of a CSV file.",
        discussion: """
            The file's first line names its columns, in any order: partnerInternalMerchantIdentifier, \
            partnerMerchantName, domainNames (separated by blanks or semicolons), and if wanted encryptTo, merchantUrl, \
            merchantIdentifier. UTF-8, fields between commas, in quotes where they hold one, at most 64 MiB. A file with a \
            fault is refused whole. Run it again to continue after an interruption: Apple is not asked again about what the \
            report lists as done and the daemon confirms.
            """)

    static let subcommand = "registration import"

    @Argument(help: "The CSV file, or '-'.")
    var file: String

    @OptionGroup var bulk: BulkOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let input = InputFile(file)
        let registrations = try RegistrationFile(
            try input.read(largest: RegistrationFile.largest), named: input.isStandardInput ? "standard input" : file)
        let report = try bulk.open(
            Self.subcommand, standard: "\(input.isStandardInput ? "registration-import" : file).report.jsonl")
        let summary = try await global.withAdmin(connections: bulk.concurrency) { admin in
            var rest = registrations.lines[...]
            return try await BulkRun(report: report, concurrency: bulk.concurrency).run(
                total: registrations.lines.count
            ) {
                rest.popFirst()
            } act: { line, earlier in
                if earlier != nil, try await admin.hasRegistered(line.request) { return .unchanged([:]) }
                let warnings = try await admin.register(line.request).document.warnings
                return .done(warnings.isEmpty ? [:] : ["warnings": warnings.joined(separator: "; ")])
            }
        }
        try summary.conclude(global.printer)
    }
}

extension AdminClient {
    /// Whether the daemon's own record, without asking Apple, says that Apple has what the line asks for.
    fileprivate func hasRegistered(_ request: RegisterRequest) async throws(ClientError) -> Bool {
        guard let partner = PartnerInternalMerchantIdentifier(request.partnerInternalMerchantIdentifier) else {
            return false
        }
        let found: RegistrationDocument
        do throws(ClientError) {
            found = try await registration(partner, refresh: false).document
        } catch .refused(let refusal) where refusal.status == 404 {
            return false
        }
        let domains = request.domainNames.map { DomainName(anySpelling: $0)?.rawValue ?? $0 }
        func isAsAsked(_ asked: String?, _ found: String?) -> Bool { asked == nil || asked == found }
        return found.state == "registered" && found.drift.isEmpty
            && Set(domains).isSubset(of: found.domainNames)
            && isAsAsked(request.partnerMerchantName, found.partnerMerchantName)
            && isAsAsked(request.encryptTo, found.encryptTo)
            && isAsAsked(request.merchantUrl, found.merchantUrl)
            && isAsAsked(request.merchantIdentifier, found.merchantIdentifier)
    }
}
