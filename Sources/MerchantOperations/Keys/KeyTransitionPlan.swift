package import MerchantCore
import Vocabulary

/// The ports that a transition of a key pair writes: its state, its seal, its rolls, and their audit records and events.
package typealias KeyTransitionWriting = MerchantReading & KeyPairWriting & SealedKeyWriting & KeyUseReading
    & RollWriting
    & ChangeRecording

/// The changes, warnings and events of a transition of a key pair.
struct KeyTransitionPlan {
    let keyPair: KeyPair
    var changes: [KeyChange] = []
    var warnings: [String] = []
    var events: [Event] = []

    init(_ keyPair: KeyPair) { self.keyPair = keyPair }
}

/// One change of a key pair with its audit entry.
struct KeyChange {
    let before: KeyPair
    var after: KeyPair
    let audit: AuditEntry

    init(before: KeyPair, after: KeyPair, audit: AuditEntry) {
        self.before = before
        self.after = after
        self.audit = audit
    }

    init(_ keyPair: KeyPair, _ event: KeyEvent, at now: Timestamp, audit: AuditEntry) throws(MerchantError) {
        var after = keyPair
        after.state = try KeyLifecycle.state(after: event, from: keyPair.state)
        after.stateSince = now
        self.init(before: keyPair, after: after, audit: audit)
    }

    func perform(in transaction: any KeyTransitionWriting) throws {
        if after.state == .destroyed { try transaction.removeSealedPrivateKey(of: before.publicKeyHash) }
        try transaction.update(after)
        try transaction.append(audit)
    }
}

extension KeyTransitionPlan {
    /// Performs every change with its effects on rolls, and stores the events. Rolls end first, because the store refuses an
    /// open roll to a revoked key pair.
    func perform(in transaction: any KeyTransitionWriting, at now: Timestamp, for request: Request) throws {
        let effects = try RollEffects(of: changes, in: transaction)
        try effects.end(in: transaction, at: now, for: request)
        for change in changes { try change.perform(in: transaction) }
        try effects.begin(in: transaction, at: now, for: request)
        for event in events { try transaction.append(event) }
        for change in changes { try transaction.refreshIdleTime(of: change.after) }
    }
}
