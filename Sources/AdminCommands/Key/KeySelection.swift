import ArgumentParser
import FoundationEssentials
import MerchantKeyClient
import Vocabulary
import WireAPI

/// The options that select key pairs of one merchant or of all merchants.
struct KeySelection: ParsableArguments {
    @Argument(
        help: "The merchant's identifier. Default: all merchants.", completion: .merchant,
        transform: MerchantIdentifier.parse)
    var merchant: MerchantIdentifier?

    @Option(
        help: """
            List only key pairs in this state: pending, standby, current, retiring, revoked or destroyed. Default: all \
            states.
            """)
    var state: KeyState?

    @Option(
        help: ArgumentHelp(
            "List only active key pairs whose certificate expires within this time, such as 30d, or has expired.",
            valueName: "duration"), transform: DurationArgument.parse)
    var endingWithin: DurationArgument?

    func validate() throws {
        guard endingWithin == nil || state.map(\.isActive) ?? true else {
            throw ValidationError(
                "--ending-within lists only active key pairs; use it without --state, or with standby, current or retiring"
            )
        }
    }

    /// Reads the key pairs.
    ///
    /// - Returns: the selected key pairs, and possibly others. Filter them with ``contains(_:)``.
    func read(_ admin: AdminClient) async throws -> Listing<KeyDocument> {
        if let merchant { return try await admin.keys(of: merchant) }
        if let expiryLimit { return try await admin.keys(endingBefore: expiryLimit, in: state) }
        return try await admin.keys(in: state.map { [$0] } ?? Array(KeyState.allCases))
    }

    func contains(_ key: KeyDocument) -> Bool {
        guard state == nil || state == key.state else { return false }
        guard let expiryLimit else { return true }
        guard key.state.isActive, let expiry = key.certificates.map(\.notAfter).max() ?? key.notAfter else {
            return false
        }
        return expiry < expiryLimit
    }

    /// `--ending-within` selects certificates that expire before this time. It is computed with this machine's clock,
    /// which is also the daemon's clock.
    private var expiryLimit: Timestamp? {
        endingWithin.map { Timestamp(Date()).adding(.seconds($0.seconds)) }
    }
}
