import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct RollFinish: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "finish", abstract: "Revoke the old key of a roll once it is quiet.",
        discussion: """
            Refused while the old key may still be in use, saying how far off that is. 'key restore' takes the \
            revocation back.
            """)

    @OptionGroup var choice: RollChoice

    @Flag(help: "Do not wait until the old key is quiet; asks for --reason.")
    var now = false

    @Option(help: "Why, for the audit.")
    var reason: String?

    @OptionGroup var withdrawal: WithdrawalOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard !now || reason != nil else {
            throw ValidationError("found --now without --reason, expected why the old key is not waited for")
        }
    }

    func run() async throws {
        try await global.withAdmin { admin in
            let roll = try await choice.find(admin)
            try await withdrawal.end("finish roll \(roll.rollId) of \(roll.merchantIdentifier)", global.printer) {
                try await admin.finishRoll(roll.rollId, now: now, reason: reason, dryRun: $0)
            }
        }
    }
}

struct RollAbandon: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "abandon", abstract: "Give a roll up before its new key is promoted.",
        discussion: "A new key without a certificate is revoked; one with a certificate stays and keeps decrypting.")

    @OptionGroup var choice: RollChoice

    @Option(help: "Why, for the audit.")
    var reason: String?

    @OptionGroup var withdrawal: WithdrawalOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdmin { admin in
            let roll = try await choice.find(admin)
            try await withdrawal.end("abandon roll \(roll.rollId) of \(roll.merchantIdentifier)", global.printer) {
                try await admin.abandonRoll(roll.rollId, reason: reason, dryRun: $0)
            }
        }
    }
}

/// Which open roll is meant.
struct RollChoice: ParsableArguments {
    @Argument(help: "Whose roll it is.", transform: MerchantArgument.parse)
    var merchant: MerchantIdentifier

    @Option(help: "EC_v1 or RSA_v1, where rolls of both are open.")
    var algorithm: AlgorithmArgument?

    /// - Throws: ``CommandFailure`` where none is open, or more than one.
    func find(_ admin: AdminClient) async throws -> RollDocument {
        let open = try await admin.rolls(of: merchant, state: RollStateArgument.open.rawValue).items
            .filter { algorithm == nil || $0.algorithm == algorithm?.rawValue }
        guard let roll = open.first else {
            throw CommandFailure(.refused, "no roll of \(merchant) is open")
        }
        guard open.count == 1 else {
            throw CommandFailure(.refused, "\(open.count) rolls of \(merchant) are open, expected --algorithm")
        }
        return roll
    }
}

extension WithdrawalOptions {
    /// Ends a roll: shows what it would do, asks, does it.
    fileprivate func end(
        _ action: String, _ printer: Printer, act: (_ dryRun: Bool) async throws -> Answer<RollDocument>
    ) async throws {
        if dryRun || !yes {
            let plan = try await act(true)
            if dryRun {
                try printer.show(plan.json) { plan.document.blocks }
                printer.warn(plan.document.warnings ?? [])
                return
            }
            for move in plan.document.transitions ?? [] {
                printer.remark("would move \(move.publicKeyHash) from \(move.from) to \(move.to)")
            }
            printer.warn(plan.document.warnings ?? [])
            try confirm(action, printer)
        }
        let done = try await act(false)
        try printer.show(done.json) { done.document.blocks }
        if yes { printer.warn(done.document.warnings ?? []) }
    }
}
