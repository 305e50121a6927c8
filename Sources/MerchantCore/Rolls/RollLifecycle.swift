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
    /// - Parameter from: the state of the old key pair; nil for a roll without an old key pair.
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

    /// Since when a roll waits only for time to pass: the time of the last request for the old key pair, or of the last
    /// change of state of either key pair, whichever is later.
    ///
    /// - Returns: nil while the roll waits for something else: the promotion of the new key pair, or the first
    ///   successful decryption with the new key pair after that. Always nil once the old key was exported, because the
    ///   daemon does not see the uses of an exported key.
    package static func idleSince(from: KeyPair, fromUse: KeyUse?, to: KeyPair, toUse: KeyUse?) -> Timestamp? {
        guard to.state == .current, from.exportedAt == nil, toUse?.promotionConfirmedAt != nil else { return nil }
        return [to.stateSince, from.stateSince, fromUse?.lastRequest].compactMap { $0 }.max()
    }

    /// Who must act so that a key pair becomes the current one. Rolls and the onboarding of a merchant both use this
    /// rule, so that every interface names the same party.
    ///
    /// The merchant's Apple Developer account creates and activates the certificate. An admin must act only if tokens
    /// for the key arrive and the daemon has not promoted it: because the settings do not permit automatic promotions,
    /// because another key pair has a newer certificate, or because another key pair is current and the key pair is not
    /// the new key pair of a roll.
    ///
    /// - Parameter use: the observed use of the key pair; nil if it was never used.
    /// - Returns: nil if the key pair is current already, or can no longer become current.
    package static func partyBeforePromotion(of keyPair: KeyPair, use: KeyUse?) -> RollParty? {
        switch keyPair.state {
        case .pending: .merchant
        // Tokens for a retiring key do not show that its certificate is active at Apple: they may be late tokens.
        case .retiring: .merchant
        case .standby: use?.firstDecryption(inStateOf: keyPair) == nil ? .merchant : .admin
        case .current, .revoked, .destroyed: nil
        }
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
        let party = partyBeforePromotion(of: to, use: toUse) ?? RollParty.none
        switch state(to: to.state, isQuiet: isQuiet) {
        case .started:
            return RollProgress(
                state: .started, waitingFor: party, since: max(roll.startedAt, to.stateSince),
                next: "have the CSR of \(to.publicKeyHash) signed by Apple and upload the certificate")
        case .certificateStored:
            return RollProgress(
                state: .certificateStored, waitingFor: party, since: max(roll.startedAt, to.stateSince),
                next: activation(of: to, by: party, policy))
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

    private static func activation(of to: KeyPair, by party: RollParty, _ policy: RollPolicy) -> String {
        let hash = to.publicKeyHash
        if party == .admin {
            return
                "tokens for \(hash) arrive, so its certificate is active at Apple: promote the key with 'key promote'"
        }
        return policy.promotesOnFirstDecryption && to.state == .standby
            ? "activate the certificate of \(hash) at Apple; the first token that is decrypted with this key promotes the key, or promote it with 'key promote'"
            : "activate the certificate of \(hash) at Apple; then an admin promotes the key with 'key promote'"
    }

    private static func promoted(from: KeyPair?, to: KeyPair, toUse: KeyUse?, quietAt: Timestamp?) -> RollProgress {
        let party: RollParty
        let next: String
        if let quietAt {
            party = .time
            next =
                "wait until \(quietAt): the roll is then quiet, unless a decryptor requests the old key before that time"
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
    /// When the roll became quiet, or will become quiet if no decryptor requests the old key before that time; nil if
    /// unknown.
    package var quietAt: Timestamp?
}
