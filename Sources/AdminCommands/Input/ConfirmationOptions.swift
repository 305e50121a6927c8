import ArgumentParser
import Glibc
import MerchantKeyClient
import Vocabulary
import WireAPI

/// The options of every subcommand that revokes, removes or destroys.
struct ConfirmationOptions: ParsableArguments {
    @Flag(help: "Show what would be done, and change nothing.")
    var dryRun = false

    @Flag(help: "Do not ask for confirmation.")
    var yes = false

    /// Asks for confirmation on the terminal, unless `--yes` is given.
    ///
    /// - Throws: ``CommandFailure`` if standard input is not a terminal, or the response is not yes.
    func confirm(_ action: String, _ printer: Printer) throws(CommandFailure) {
        guard !yes else { return }
        guard isatty(STDIN_FILENO) == 1 else {
            throw CommandFailure(
                .refused, "nothing was changed: standard input is not a terminal; confirm with --yes to \(action)")
        }
        StandardStream.error.write("Type yes to \(action): ".printable(keepingLines: false))
        guard readLine() == "yes" else { throw CommandFailure(.refused, "nothing was changed") }
    }

    /// Shows a plan, asks for confirmation, and executes it.
    ///
    /// - Parameters:
    ///   - action: completes the question "Type yes to …".
    ///   - call: calls the daemon. Its argument is whether the call is a dry run.
    func run<Document: PlannedChange>(
        _ action: String, _ printer: Printer, call: (_ dryRun: Bool) async throws -> Response<Document>
    ) async throws {
        if dryRun || !yes {
            let plan = try await call(true)
            if dryRun {
                try printer.show(plan.json) { plan.document.blocks }
                printer.warn(plan.document.allWarnings)
                return
            }
            for change in plan.document.changes { printer.note("would \(change)") }
            printer.warn(plan.document.allWarnings)
            try confirm(action, printer)
        }
        let done = try await call(false)
        try printer.show(done.json) { done.document.blocks }
        // Without --yes, the warnings were already shown before the question.
        if yes { printer.warn(done.document.allWarnings) }
    }
}

/// The response to an operation that changes something, or to its dry run. It lists the changes and warnings.
protocol PlannedChange: Decodable & Sendable {
    var blocks: [Block] { get }
    /// The changes. Each text completes the sentence "would …".
    var changes: [String] { get }
    var allWarnings: [String] { get }
}

extension KeyTransitionDocument: PlannedChange {
    var changes: [String] { transitions.map(\.description) }
    var allWarnings: [String] { warnings }
}

extension RollDocument: PlannedChange {
    var changes: [String] { (transitions ?? []).map(\.description) }
    var allWarnings: [String] { warnings ?? [] }
}

extension WithdrawalDocument: PlannedChange {
    var changes: [String] { domainNames.map { "unregister \($0)" } }
    var allWarnings: [String] { warnings }
}

extension KeyTransitionDocument.Transition {
    fileprivate var description: String { "move \(publicKeyHash) from \(from) to \(to)" }
}
