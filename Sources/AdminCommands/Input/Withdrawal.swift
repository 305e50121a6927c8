import ArgumentParser
import Glibc
import MerchantKeyClient
import Vocabulary
import WireAPI

/// What every verb takes that withdraws or destroys.
struct WithdrawalOptions: ParsableArguments {
    @Flag(help: "Show what would be done, and do nothing.")
    var dryRun = false

    @Flag(help: "Answer every question with yes.")
    var yes = false

    /// Returns once a person agreed.
    ///
    /// - Throws: ``CommandFailure`` where nobody can be asked, or the answer was not yes.
    func confirm(_ action: String, _ printer: Printer) throws(CommandFailure) {
        guard !yes else { return }
        guard isatty(STDIN_FILENO) == 1 else {
            throw CommandFailure(.refused, "nothing was done: \(action) asks on a terminal, expected --yes elsewhere")
        }
        StandardStream.error.write("Type yes to \(action): ".printable(keepingLines: false))
        guard readLine() == "yes" else { throw CommandFailure(.refused, "nothing was done") }
    }
}

extension WithdrawalOptions {
    /// Withdraws a key: shows what it would do, asks, does it.
    ///
    /// - Parameter act: the daemon's call, told whether it is to be a dry run.
    func withdraw(
        _ action: String, _ printer: Printer, act: (_ dryRun: Bool) async throws -> Answer<KeyTransitionDocument>
    ) async throws {
        if dryRun || !yes {
            let plan = try await act(true)
            if dryRun {
                try printer.show(plan.json) { plan.document.blocks }
                printer.warn(plan.document.warnings)
                return
            }
            for move in plan.document.transitions {
                printer.remark("would move \(move.publicKeyHash) from \(move.from) to \(move.to)")
            }
            printer.warn(plan.document.warnings)
            try confirm(action, printer)
        }
        let done = try await act(false)
        try printer.show(done.json) { done.document.blocks }
        // Without --yes they were shown before the question.
        if yes { printer.warn(done.document.warnings) }
    }
}
