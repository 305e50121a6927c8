import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

/// The arguments that select an open roll.
struct RollSelection: ParsableArguments {
    @Argument(help: "The merchant's identifier.", completion: .merchant, transform: MerchantIdentifier.parse)
    var merchant: MerchantIdentifier

    @Option(
        help: "Algorithm of the roll: EC_v1 or RSA_v1. Needed only if the merchant has open rolls of both algorithms.")
    var algorithm: KeyAlgorithm?

    func find(_ admin: AdminClient) async throws -> RollDocument {
        try await Self.openRoll(of: merchant, algorithm, admin)
    }

    /// - Parameter algorithm: the algorithm of the roll; nil to accept either algorithm.
    /// - Throws: ``CommandFailure`` if no open roll, or more than one, matches the arguments.
    static func openRoll(
        of merchant: MerchantIdentifier, _ algorithm: KeyAlgorithm?, _ admin: AdminClient
    ) async throws -> RollDocument {
        let openRolls = try await admin.rolls(of: merchant, state: RollStateArgument.open.rawValue).items
            .filter { algorithm == nil || $0.algorithm == algorithm }
        guard let roll = openRolls.first else {
            throw CommandFailure(
                .failed,
                "\(merchant) has no open roll\(algorithm.map { " with the algorithm \($0)" } ?? ""); 'roll status' lists all open rolls"
            )
        }
        guard openRolls.count == 1 else {
            throw CommandFailure(
                .failed, "\(merchant) has \(openRolls.count.counted("open roll")); select one of them with --algorithm"
            )
        }
        return roll
    }
}
