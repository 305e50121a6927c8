import MerchantCore
import StoreCore
import Vocabulary

extension PendingClaim {
    /// Claims are inserted in the order of these bytes. Two daemons that insert the same claims in different orders
    /// could cause a deadlock.
    var order: [UInt8] {
        switch self {
        case .token(let pending): [0] + pending.claim.transactionId.bytes
        case .nonce(let pending): [1] + pending.claim.digest.bytes
        }
    }
    /// The claim of a token; nil for that of a nonce.
    var tokenClaim: TokenClaim? { if case .token(let pending) = self { pending.claim } else { nil } }
}
