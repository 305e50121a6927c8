package import Vocabulary

/// What can change the state of a key pair: the input of the state machine ``KeyLifecycle``.
package enum KeyTrigger: Hashable, Sendable {
    case certificateStored
    case promote
    /// Another key pair of the same merchant, purpose and algorithm becomes current.
    case supersede
    case revoke
    /// `hasCertificate`: whether a certificate of the key pair is stored. `anotherIsCurrent`: whether another key pair
    /// of the same merchant, purpose and algorithm is current.
    case restore(hasCertificate: Bool, anotherIsCurrent: Bool)
    case destroy
}

/// The state transitions of a key pair, as a pure function. Time, uniqueness and permits are checked elsewhere.
///
/// ```text
/// pending ──certificateStored──▶ standby ──promote──▶ current ──supersede──▶ retiring ──revoke──▶ revoked ──destroy──▶ destroyed
///    │                              │                    │  ◀──promote───────────┘                   │
///    └───────────revoke─────────────┴───────revoke───────┘                                           │
///    pending, standby or retiring ◀───────────────────────restore────────────────────────────────────┘
/// ```
package enum KeyLifecycle {
    /// - Returns: the state after the trigger, which is the same state if the trigger changes nothing.
    /// - Throws: `keyStateConflict`, `keyWithoutCertificate`, `keyRevoked` or `keyDestroyed`, with what to do first.
    package static func state(after trigger: KeyTrigger, from state: KeyState) throws(MerchantError) -> KeyState {
        switch (trigger, state) {
        case (_, .destroyed):
            if trigger == .destroy { return .destroyed }
            throw MerchantError(.keyDestroyed, "the private key was destroyed and cannot be restored")

        case (.certificateStored, .pending): return .standby
        case (.certificateStored, .standby), (.certificateStored, .current), (.certificateStored, .retiring):
            return state
        case (.certificateStored, .revoked):
            throw MerchantError(.keyRevoked, "a certificate cannot be stored for a revoked key: restore the key first")

        case (.promote, .standby), (.promote, .retiring), (.promote, .current): return .current
        case (.promote, .pending):
            throw MerchantError(
                .keyWithoutCertificate, "a pending key cannot be promoted: store its certificate first")
        case (.promote, .revoked):
            throw MerchantError(.keyRevoked, "a revoked key cannot be promoted: restore it first")

        case (.supersede, .current), (.supersede, .retiring): return .retiring
        case (.supersede, .pending), (.supersede, .standby), (.supersede, .revoked):
            throw MerchantError(
                .keyStateConflict, "the key is \(state.rawValue), and only a current key can be superseded")

        case (.revoke, .pending), (.revoke, .standby), (.revoke, .current), (.revoke, .retiring), (.revoke, .revoked):
            return .revoked

        case (.restore(let hasCertificate, let anotherIsCurrent), .revoked):
            guard hasCertificate else { return .pending }
            return anotherIsCurrent ? .retiring : .standby
        case (.restore, .pending), (.restore, .standby), (.restore, .current), (.restore, .retiring):
            throw MerchantError(
                .keyStateConflict, "the key is \(state.rawValue), and only a revoked key can be restored")

        case (.destroy, .revoked): return .destroyed
        case (.destroy, .pending), (.destroy, .standby), (.destroy, .current), (.destroy, .retiring):
            throw MerchantError(
                .keyStateConflict,
                "the key is \(state.rawValue), and only a revoked key can be destroyed: revoke the key first")
        }
    }
}
