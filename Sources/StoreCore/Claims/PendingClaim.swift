package import MerchantCore

/// A claim that waits until its group is committed. Tokens and nonces share the groups, because they share the database
/// and its disk.
package enum PendingClaim: GroupedWrite {
    case token(PendingTokenClaim)
    case nonce(PendingNonceClaim)

    package var refuse: @Sendable (any Error) -> Void {
        switch self {
        case .token(let pending): pending.refuse
        case .nonce(let pending): pending.refuse
        }
    }
}

/// The claim of a token, and the functions that send its result to the caller.
package struct PendingTokenClaim: Sendable {
    package let claim: TokenClaim
    package let returnOutcome: @Sendable (Result<ClaimOutcome, MerchantError>) -> Void
    package let refuse: @Sendable (any Error) -> Void
}

/// The claim of a nonce, and the functions that send its result to the caller.
package struct PendingNonceClaim: Sendable {
    package let claim: NonceClaim
    /// Gets the earlier claim of the same nonce; nil if the nonce is claimed now.
    package let returnEarlierClaim: @Sendable (NonceClaim?) -> Void
    package let refuse: @Sendable (any Error) -> Void
}

extension PendingClaim {
    /// Waits until a token's claim was committed or refused.
    ///
    /// - Parameter add: adds the pending claim to the next group.
    package static func claim(
        _ claim: TokenClaim, adding add: (PendingClaim) -> Void
    ) async throws -> ClaimOutcome {
        try await withCheckedThrowingContinuation { continuation in
            add(
                .token(
                    PendingTokenClaim(
                        claim: claim, returnOutcome: { continuation.resume(with: $0) },
                        refuse: { continuation.resume(throwing: $0) })))
        }
    }

    /// Waits until a nonce's claim was committed or refused.
    ///
    /// - Parameter add: adds the pending claim to the next group.
    /// - Throws: `nonceAlreadyClaimed`.
    package static func claimNonce(_ claim: NonceClaim, adding add: (PendingClaim) -> Void) async throws {
        let earlier: NonceClaim? = try await withCheckedThrowingContinuation { continuation in
            add(
                .nonce(
                    PendingNonceClaim(
                        claim: claim, returnEarlierClaim: { continuation.resume(returning: $0) },
                        refuse: { continuation.resume(throwing: $0) })))
        }
        if let earlier { throw MerchantError.nonceAlreadyClaimed(at: earlier.at) }
    }
}
