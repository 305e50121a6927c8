import ArgumentParser
import MerchantKeyClient
import StrictJSON
import WireAPI

struct RegistrationImport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Register many merchants out of a CSV file.",
        discussion: """
            The header names the columns, in any order: partnerInternalMerchantIdentifier, partnerMerchantName, \
            domainNames (separated by blanks or semicolons), and if wanted encryptTo, merchantUrl, merchantIdentifier. \
            RFC 4180: fields with commas or quotes stand in quotes. At most 64 MiB.

            What became of each line is appended to the report, FILE.report.csv unless said. Run it again to go on: lines \
            whose report says done are skipped. Exit status 1 unless every line is done.
            """)

    private static let largest = 64 << 20

    @Argument(help: "The CSV file, or '-'.")
    var file: String

    @Option(help: ArgumentHelp("Where the report is.", valueName: "file"))
    var report: String?

    @Option(help: ArgumentHelp("How many to register at once, 1 to 64.", valueName: "n"))
    var concurrency = 16

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard (1...64).contains(concurrency) else {
            throw ValidationError("--concurrency is \(concurrency), expected 1 to 64")
        }
        guard file != "-" || report != nil else {
            throw ValidationError("standard input has no name, expected --report FILE")
        }
    }

    func run() async throws {
        let bytes = try InputFile(file).read(largest: Self.largest)
        let rows: [ImportRow]
        do { rows = try ImportRow.rows(of: CSVText.records(of: bytes)) } catch {
            throw CommandFailure(.refused, "\(file): \(error); nothing was sent")
        }
        let report = try ImportReport(report ?? "\(file).report.csv")
        let start = ContinuousClock.now
        let tally = try await global.withAdmin { admin in
            try await ImportRun(admin: admin, report: report, concurrency: concurrency).register(rows)
        }
        show(tally, of: rows.count, in: ContinuousClock.now - start, report.path)
        if let stopped = tally.stopped {
            throw CommandFailure(
                tally.daemonIsGone ? .unreachable : .refused, "stopped: \(stopped); run it again to go on")
        }
        guard tally.refused + tally.failed == 0 else {
            throw CommandFailure(
                .refused, "\(tally.refused + tally.failed) lines are not done: see \(report.path)")
        }
    }

    private func show(_ tally: ImportRun.Tally, of count: Int, in time: Duration, _ report: String) {
        let left = count - tally.skipped - tally.done - tally.refused - tally.failed
        switch global.output {
        case .table:
            global.printer.show([
                .record([
                    ("lines", Cell("\(count)")), ("done", Cell("\(tally.done)", .good)),
                    ("done before", Cell("\(tally.skipped)")),
                    ("refused", Cell("\(tally.refused)", tally.refused > 0 ? .critical : .plain)),
                    ("failed", Cell("\(tally.failed)", tally.failed > 0 ? .critical : .plain)),
                    ("not tried", Cell("\(left)", left > 0 ? .warning : .plain)),
                    ("seconds", Cell("\(time.components.seconds)")), ("report", Cell(report)),
                ])
            ])
        case .json:
            let numbers = [
                ("lines", count), ("done", tally.done), ("doneBefore", tally.skipped), ("refused", tally.refused),
                ("failed", tally.failed), ("notTried", left), ("seconds", Int(time.components.seconds)),
            ]
            global.printer.json(
                .object(
                    JSONObject(
                        members: numbers.map { .init(name: $0.0, value: .number(String($0.1))) } + [
                            .init(name: "report", value: .string(report))
                        ])))
        }
    }
}
