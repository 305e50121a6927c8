import MerchantCore
import Vocabulary

/// A claim that waits until its group is committed. Tokens and nonces share the groups.
enum PendingClaim: GroupedWrite {
    case token(PendingTokenClaim)
    case nonce(PendingNonceClaim)

    var refuse: @Sendable (any Error) -> Void {
        switch self {
        case .token(let pending): pending.refuse
        case .nonce(let pending): pending.refuse
        }
    }

    /// Claims are inserted in the order of these bytes. Two daemons that insert the same claims in different orders
    /// could wait for each other.
    var order: [UInt8] {
        switch self {
        case .token(let pending): [0] + pending.claim.transactionId.bytes
        case .nonce(let pending): [1] + pending.claim.digest.bytes
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
