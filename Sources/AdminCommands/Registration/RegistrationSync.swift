import ArgumentParser
import FoundationEssentials
import MerchantKeyClient
import StrictJSON
import Vocabulary
import WireAPI

struct RegistrationSync: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Compare all registrations with Apple's records; with --repair, repair differences.",
        discussion: """
            Shows the differences: missing or additional domains, another name or encryptTo, a missing registration. \
            With --repair, the daemon registers what is missing and unregisters what should not be there; without \
            --repair, nothing changes at Apple. Exit status 1 if a registration could not be compared or repaired. \
            With --check, also if a registration differs from Apple's record; with --check and --repair, only if it \
            still differs after the repair.
            """,
        examples: [
            "registration sync --check",
            "registration sync --repair",
        ])

    @Flag(help: "Repair differences at Apple.")
    var repair = false

    @Flag(help: "Exit with status 1 if a registration differs from Apple's record.")
    var check = false

    @OptionGroup var global: GlobalOptions

    /// The number of registrations in one request. It is small, so that the progress bar moves even if Apple is slow.
    private static let batchSize = 100
    /// How many times in a row the command waits and repeats a request before it fails.
    private static let maximumWaits = 10

    func run() async throws {
        try await global.withAdminClient { admin in
            var result = SyncResult(repair: repair)
            // Used only for the progress bar. If the daemon can't be reached, the first batch reports the error.
            let total = try? await admin.status().document.registrations
            var bar = ProgressBar(total: total, isQuiet: global.quiet)
            defer { bar.clear() }
            var request = SyncRequest()
            request.repair = repair
            request.limit = Self.batchSize
            var waits = 0
            repeat {
                let batch: Response<SyncDocument>
                do throws(ClientError) {
                    batch = try await admin.syncRegistrations(request)
                } catch {
                    // If a later batch is refused with `Retry-After`, the command waits and tries again, so that the
                    // results of the earlier batches are not lost. If the first batch is refused, there are no results:
                    // the command fails.
                    guard case .refused(let refusal) = error, let seconds = refusal.retryAfter,
                        waits < Self.maximumWaits,
                        result.compared > 0
                    else { throw error }
                    waits += 1
                    try await wait(seconds, because: "\(error)", &bar)
                    continue
                }
                try result.add(batch)
                bar.show(.init(finished: result.compared))
                request.cursor = batch.document.nextCursor
                if let halted = batch.document.halted {
                    // The daemon stopped the batch early, for example because of Apple's rate limit.
                    guard let seconds = halted.retryAfter, waits < Self.maximumWaits else { break }
                    waits += 1
                    try await wait(seconds, because: "\(halted.code): \(halted.detail)", &bar)
                } else {
                    waits = 0
                    result.halted = nil
                }
            } while request.cursor != nil
            bar.clear()
            try result.show(global.printer)
            if check { try result.throwIfDifferent() }
        }
    }

    private func wait(_ seconds: Int, because reason: String, _ bar: inout ProgressBar) async throws {
        let pause = Duration.seconds(min(seconds, BulkReaction.longestPause))
        if pause >= BulkThrottle.shortestAnnouncedPause {
            bar.clear()
            global.printer.note("waiting \(pause.components.seconds) s, then trying again: \(reason)")
        }
        try await Task.sleep(for: pause)
    }
}

/// The combined results of all batches of one sync.
private struct SyncResult {
    let repair: Bool
    var compared = 0
    var findings: [SyncDocument.Finding] = []
    /// Why the daemon stopped the last batch early; nil if it did not.
    var halted: FailureDocument?
    /// The findings as the daemon sent them, for JSON output.
    private var jsonFindings: [JSONValue] = []

    init(repair: Bool) { self.repair = repair }

    mutating func add(_ batch: Response<SyncDocument>) throws {
        compared += batch.document.compared
        findings += batch.document.findings
        halted = batch.document.halted
        if case .object(let object) = try Printer.parse(batch.json), case .array(let batchFindings) = object["findings"]
        {
            jsonFindings += batchFindings
        }
    }

    func show(_ printer: Printer) throws {
        switch printer.format {
        case .json:
            printer.json(
                .object(
                    JSONObject(members: [
                        .init(name: "compared", value: .number(String(compared))),
                        .init(name: "findings", value: .array(jsonFindings)),
                        .init(name: "repair", value: .bool(repair)),
                    ])))
        case .table:
            if !findings.isEmpty { printer.show([SyncDocument.Finding.table(findings)]) }
        }
        let drifting = findings.count { !$0.drift.isEmpty }
        let repaired = findings.count { $0.repaired == true }
        printer.note(
            "compared \(compared.counted("registration")): \(drifting.counted("differs", "differ"))"
                + (repair ? ", \(repaired) repaired" : ""))
        if let halted {
            throw CommandFailure(.failed, "stopped before the last registration: \(halted.code): \(halted.detail)")
        }
        let failed = findings.count { $0.failure != nil || $0.repaired == false }
        guard failed == 0 else {
            throw CommandFailure(
                .failed, "\(failed.counted("registration")) could not be compared or repaired; see the findings above")
        }
    }

    /// - Throws: ``CommandFailure`` if a registration differs from Apple's record, after the repair if there was one.
    func throwIfDifferent() throws(CommandFailure) {
        let different = findings.count { !$0.remaining.isEmpty || $0.repaired == nil && !$0.drift.isEmpty }
        guard different > 0 else { return }
        let all = "of \(compared.counted("registration"))"
        throw CommandFailure(
            .failed,
            "\(different.counted("\(all) differs", "\(all) differ")) from Apple's record; 'registration sync --repair' makes Apple's record match the daemon's"
        )
    }
}
