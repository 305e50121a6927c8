import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

/// The arguments that select an open roll.
struct RollChoice: ParsableArguments {
    @Argument(help: "The merchant's identifier.", transform: MerchantIdentifier.parse)
    var merchant: MerchantIdentifier

    @Option(help: "Algorithm: EC_v1 or RSA_v1; needed if rolls of both are open.")
    var algorithm: KeyAlgorithm?

    /// - Throws: ``CommandFailure`` if no open roll, or more than one, matches the arguments.
    func find(_ admin: AdminClient) async throws -> RollDocument {
        let open = try await admin.rolls(of: merchant, state: RollStateArgument.open.rawValue).items
            .filter { algorithm == nil || $0.algorithm == algorithm }
        guard let roll = open.first else {
            throw CommandFailure(.refused, "\(merchant) has no open roll")
        }
        guard open.count == 1 else {
            throw CommandFailure(.refused, "\(merchant) has \(open.count) open rolls; select one with --algorithm")
        }
        return roll
    }
}
