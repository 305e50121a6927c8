import MerchantCore

/// A claim that waits until its group is committed. Tokens and nonces share the groups, because they share the database
/// and its disk.
enum PendingClaim: GroupedWrite {
    case token(PendingTokenClaim)
    case nonce(PendingNonceClaim)

    var refuse: @Sendable (any Error) -> Void {
        switch self {
        case .token(let pending): pending.refuse
        case .nonce(let pending): pending.refuse
        }
    }
}

struct PendingTokenClaim: Sendable {
    let claim: TokenClaim
    let returnOutcome: @Sendable (Result<ClaimOutcome, MerchantError>) -> Void
    let refuse: @Sendable (any Error) -> Void
}

struct PendingNonceClaim: Sendable {
    let claim: NonceClaim
    /// Gets the earlier claim of the same nonce; nil if the nonce is claimed now.
    let returnEarlierClaim: @Sendable (NonceClaim?) -> Void
    let refuse: @Sendable (any Error) -> Void
}
