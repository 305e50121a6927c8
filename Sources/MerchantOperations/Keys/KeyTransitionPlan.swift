package import MerchantCore
import Vocabulary

/// What a change of a key pair's state reads and writes in the store: the merchant, the key pair, its sealed private
/// key, its uses, its rolls, audit records and events.
package typealias KeyTransitionWriting = MerchantReading & KeyPairWriting & SealedKeyWriting & KeyUseReading
    & RollWriting
    & ChangeRecording

/// What promoting, revoking, restoring or destroying a key pair will change. The plan is computed before anything is
/// written, so that a dry run can report it.
struct KeyTransitionPlan {
    /// The key pair that the request named, as it is before the transition.
    let keyPair: KeyPair
    var changes: [KeyChange] = []
    var warnings: [String] = []
    var events: [Event] = []

    init(_ keyPair: KeyPair) { self.keyPair = keyPair }
}

/// One change of a key pair, with the audit record about the change.
struct KeyChange {
    let before: KeyPair
    var after: KeyPair
    let audit: AuditEntry

    init(before: KeyPair, after: KeyPair, audit: AuditEntry) {
        self.before = before
        self.after = after
        self.audit = audit
    }

    /// The change of state that `trigger` causes.
    ///
    /// - Parameter now: the time at which the new state begins, for ``KeyPair/stateSince``. Callers pass
    ///   ``ClockReading/latest``, so that a machine clock that was set back does not make the time too early.
    /// - Throws: an error of ``KeyLifecycle/state(after:from:)`` if the trigger is not permitted in the key
    ///   pair's state.
    init(_ keyPair: KeyPair, _ trigger: KeyTrigger, at now: Timestamp, audit: AuditEntry) throws(MerchantError) {
        var after = keyPair
        after.state = try KeyLifecycle.state(after: trigger, from: keyPair.state)
        after.stateSince = now
        self.init(before: keyPair, after: after, audit: audit)
    }

    /// Writes the changed key pair and the audit record. Removes the sealed private key of a destroyed key pair.
    func perform(in transaction: any KeyTransitionWriting) throws {
        if after.state == .destroyed { try transaction.removeSealedPrivateKey(of: before.publicKeyHash) }
        try transaction.update(after)
        try transaction.append(audit)
    }
}

extension KeyTransitionPlan {
    /// Performs every change and its effects on rolls, and stores the events.
    ///
    /// A roll ends before its key pairs change, because the store refuses to revoke the new key pair of an open roll.
    /// A change of a key pair in an open roll restarts the roll's quiet period, so ``Roll/idleSince`` is updated last.
    func perform(in transaction: any KeyTransitionWriting, at now: Timestamp, for request: Request) throws {
        let effects = try RollEffects(of: changes, in: transaction)
        try effects.endRoll(in: transaction, at: now, for: request)
        for change in changes { try change.perform(in: transaction) }
        try effects.startRoll(in: transaction, at: now, for: request)
        for event in events { try transaction.append(event) }
        for change in changes { try transaction.updateIdleTime(ofRollWith: change.after) }
    }
}

extension KeyPairWriting {
    /// Writes a key pair that is in the requested state already.
    ///
    /// Several daemons can share a database. The request that changed the key pair may still wait for one of these
    /// daemons, or may have failed while it waited. This write makes a repeated request wait too.
    func rewriteUnchanged(_ keyPair: KeyPair) throws { try update(keyPair) }
}
