package import Vocabulary

/// Computes the state of a roll from its two key pairs, so that the states of the roll and of the key pairs always
/// agree. `from` is the old key pair, which the roll replaces; `to` is the new key pair.
package enum RollLifecycle {
    /// The state of an open roll.
    ///
    /// - Parameter to: the state of the new key pair.
    package static func state(to: KeyState, isQuiet: Bool) -> RollState {
        switch to {
        case .pending: .started
        // `retiring`: another key was promoted after this one. The certificate is stored, and Apple does not use it.
        case .standby, .retiring: .certificateStored
        case .current: isQuiet ? .quiet : .promoted
        case .revoked, .destroyed: .abandoned
        }
    }

    /// The outcome of a roll whose two key pairs have these states.
    ///
    /// - Parameter from: nil for a merchant's first roll.
    /// - Returns: nil if the roll continues.
    package static func outcome(from: KeyState?, to: KeyState) -> Roll.Outcome? {
        switch to {
        case .revoked, .destroyed: return .abandoned
        case .pending, .standby, .retiring: return nil
        case .current:
            switch from {
            case nil, .revoked, .destroyed: return .finished
            case .pending, .standby, .current, .retiring: return nil
            }
        }
    }

    /// Since when a roll waits only for time to pass: the last request for the old key pair, or the last change of
    /// state of either key pair, whichever is later.
    ///
    /// - Returns: nil while the roll waits for something else: the promotion of the new key pair, or the first
    ///   successful decryption with the new key pair after that. Always nil once the old key was exported, because the
    ///   daemon does not see the uses of an exported key.
    package static func idleSince(from: KeyPair, fromUse: KeyUse?, to: KeyPair, toUse: KeyUse?) -> Timestamp? {
        guard to.state == .current, from.exportedAt == nil, toUse?.promotionConfirmedAt != nil else { return nil }
        return [to.stateSince, from.stateSince, fromUse?.lastRequest].compactMap { $0 }.max()
    }

    /// How far a roll is, as `roll status` shows it.
    package static func progress(
        of roll: Roll, from: KeyPair?, fromUse: KeyUse?, to: KeyPair, toUse: KeyUse?, policy: RollPolicy,
        at now: Timestamp
    ) -> RollProgress {
        if let outcome = roll.outcome {
            let state: RollState = outcome == .finished ? .finished : .abandoned
            return RollProgress(state: state, waitingFor: .none, since: roll.endedAt ?? to.stateSince, next: nil)
        }
        let idleSince = from.flatMap { Self.idleSince(from: $0, fromUse: fromUse, to: to, toUse: toUse) }
        // A roll is not quiet before the new key has decrypted a token.
        let quietAt = idleSince.map { max($0.adding(policy.quietPeriod), toUse?.promotionConfirmedAt ?? $0) }
        let isQuiet = quietAt.map { $0 <= now } ?? false
        switch state(to: to.state, isQuiet: isQuiet) {
        case .started:
            return RollProgress(
                state: .started, waitingFor: .merchant, since: max(roll.startedAt, to.stateSince),
                next: "have the CSR of \(to.publicKeyHash) signed by Apple and upload the certificate")
        case .certificateStored:
            return RollProgress(
                state: .certificateStored, waitingFor: .admin, since: max(roll.startedAt, to.stateSince),
                next: policy.promotesOnFirstDecryption && to.state == .standby
                    ? "activate the certificate of \(to.publicKeyHash) at Apple; the first token that is decrypted with this key promotes the key, or promote it with 'key promote'"
                    : "activate the certificate of \(to.publicKeyHash) at Apple, then promote the key")
        case .quiet:
            return RollProgress(
                state: .quiet, waitingFor: policy.finishesWhenQuiet ? .time : .admin, since: quietAt ?? to.stateSince,
                next: "finish the roll, which revokes \(from.map { "\($0.publicKeyHash)" } ?? "nothing")",
                quietAt: quietAt)
        // `finished` and `abandoned` do not occur here: the store refuses to revoke the new key pair of an open roll.
        case .promoted, .finished, .abandoned:
            return promoted(from: from, to: to, toUse: toUse, quietAt: quietAt)
        }
    }

    private static func promoted(from: KeyPair?, to: KeyPair, toUse: KeyUse?, quietAt: Timestamp?) -> RollProgress {
        let party: RollParty
        let next: String
        if let quietAt {
            party = .time
            next = "wait until \(quietAt): the roll is then quiet, unless a decryptor requests the old key before"
        } else if let exportedAt = from?.exportedAt {
            party = .admin
            next =
                "the old key was exported at \(exportedAt), so the daemon does not see every use: check that the key is not used any more, then run 'roll finish' with --now and --reason"
        } else if toUse?.promotionConfirmedAt == nil {
            party = .apple
            next = "wait for the first token that Apple encrypts to \(to.publicKeyHash)"
        } else {
            party = .time
            next = "wait until the old key is no longer requested"
        }
        return RollProgress(state: .promoted, waitingFor: party, since: to.stateSince, next: next, quietAt: quietAt)
    }
}

/// How far a roll is at one point in time, and what it waits for, computed from its key pairs and their uses.
package struct RollProgress: Hashable, Sendable {
    package let state: RollState
    package let waitingFor: RollParty
    /// Since when the roll is in this state.
    package let since: Timestamp
    /// What must be done next, as a text for people; nil if nothing must be done.
    package let next: String?
    /// When the roll became quiet, or will become quiet if no decryptor requests the old key before; nil if unknown.
    package var quietAt: Timestamp?
}
