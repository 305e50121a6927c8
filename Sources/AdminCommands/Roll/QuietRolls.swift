import MerchantKeyClient
import Vocabulary
import WireAPI

/// `roll finish --all-quiet`: finishes every roll in the state `quiet`, or only those with one algorithm.
struct QuietRolls {
    struct Item: BulkItem {
        let roll: RollDocument

        var name: String { "\(roll.merchantIdentifier) \(roll.algorithm)" }
        var content: String { roll.rollId }
        var place: String? { nil }
    }

    static let subcommand = "roll finish --all-quiet"

    let rolls: [RollDocument]

    /// Reads the quiet rolls of all merchants.
    ///
    /// - Parameter algorithm: the algorithm of the rolls; nil for both algorithms.
    init(_ admin: AdminClient, algorithm: KeyAlgorithm?) async throws {
        rolls = try await admin.rolls(of: nil, state: RollStateArgument.quiet.rawValue).items
            .filter { algorithm == nil || $0.algorithm == algorithm }
    }

    func finish(
        _ admin: AdminClient, reason: String?, _ options: BulkOptions, isQuiet: Bool
    ) async throws -> BulkSummary {
        let report = try options.openReport(of: Self.subcommand, defaultPath: "roll-finish.report.jsonl")
        var remainingRolls = rolls[...]
        let bulk = BulkRun<Item>(report: report, concurrency: options.concurrency, isQuiet: isQuiet)
        return try await bulk.run(total: rolls.count) {
            remainingRolls.popFirst().map(Item.init)
        } act: { item, _ in
            .done(Self.result(try await Self.finish(item.roll.rollId, reason, admin)))
        }
    }

    /// Finishes a roll. The daemon refuses to finish a roll that is finished already, for example if the response to an
    /// earlier attempt was lost. In this case, returns the finished roll.
    private static func finish(
        _ rollId: String, _ reason: String?, _ admin: AdminClient
    ) async throws(ClientError) -> RollDocument {
        do throws(ClientError) {
            return try await admin.finishRoll(rollId, now: false, reason: reason, dryRun: false).document
        } catch {
            guard case .refused(let refusal) = error, refusal.status == 409 else { throw error }
            let roll = try await admin.roll(rollId).document
            guard roll.state == "finished" else { throw error }
            return roll
        }
    }

    /// The details for the report.
    private static func result(_ roll: RollDocument) -> [String: String] {
        var details = ["rollId": roll.rollId, "publicKeyHash": roll.to.base64]
        if let from = roll.from { details["revoked"] = from.base64 }
        if let generated = roll.generatedKeyPairs, !generated.isEmpty {
            details["generated"] = generated.map(\.base64).joined(separator: " ")
        }
        return details
    }
}
