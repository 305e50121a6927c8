import ArgumentParser
import Glibc
import MerchantKeyClient
import Vocabulary
import WireAPI

/// The options of every subcommand that asks for confirmation.
struct ConfirmationOptions: ParsableArguments {
    @Flag(help: "Show what would be done, and change nothing.")
    var dryRun = false

    @Flag(help: "Do not ask for confirmation.")
    var yes = false

    /// Asks for confirmation on the terminal, unless `--yes` is given.
    ///
    /// - Parameter action: completes the question "Type yes to …".
    /// - Throws: ``CommandFailure`` if standard input is not a terminal, or the answer is not `yes`.
    func confirm(_ action: String) throws(CommandFailure) {
        guard !yes else { return }
        guard isatty(STDIN_FILENO) == 1 else {
            throw CommandFailure(
                .failed,
                "nothing was changed: standard input is not a terminal, so the command can't ask for confirmation; use --yes to \(action)"
            )
        }
        StandardStream.error.write("Type yes to \(action): ".printable(keepingLines: false))
        guard readLine() == "yes" else {
            throw CommandFailure(.failed, "nothing was changed, because the answer was not 'yes'")
        }
    }

    /// Shows the changes that the daemon would make, asks for confirmation, and then lets the daemon make them. With
    /// `--dry-run`, only shows the changes; with `--yes`, lets the daemon make them at once.
    ///
    /// - Parameters:
    ///   - action: completes the question "Type yes to …".
    ///   - call: sends the request to the daemon, as a dry run if its argument is true.
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
            for change in plan.document.changes { printer.alwaysNote("would \(change)") }
            for warning in plan.document.allWarnings { printer.alwaysNote("warning: \(warning)") }
            try confirm(action)
        }
        let response = try await call(false)
        try printer.show(response.json) { response.document.blocks }
        // Without --yes, the warnings were already shown before the question.
        if yes { printer.warn(response.document.allWarnings) }
    }
}

/// The daemon's response to an operation that needs confirmation, or to a dry run of the operation.
protocol PlannedChange: Decodable & Sendable {
    /// The output for `--output table`.
    var blocks: [Block] { get }
    /// The changes, one text for each, such as `unregister shop.example.com`. Before the question, each text is printed
    /// after the word "would".
    var changes: [String] { get }
    /// The warnings for the user; empty if the response has none.
    var allWarnings: [String] { get }
}

extension KeyTransitionDocument: PlannedChange {
    var changes: [String] { transitions.map(\.description) }
    var allWarnings: [String] { warnings }
}

extension RollDocument: PlannedChange {
    var changes: [String] { (transitions ?? []).map(\.description) + (nextKeyGenerationText.map { [$0] } ?? []) }
    var allWarnings: [String] { warnings ?? [] }
}

extension UnregistrationDocument: PlannedChange {
    var changes: [String] { domainNames.map { "unregister \($0)" } }
    var allWarnings: [String] { warnings }
}

extension KeyTransitionDocument.Transition {
    fileprivate var description: String { "move \(publicKeyHash) from \(from) to \(to)" }
}
