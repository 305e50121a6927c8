import MerchantCore
import Vocabulary

/// What a move would change, and what should be said about it.
struct KeyTransitionPlan {
    let keyPair: KeyPair
    var changes: [KeyChange] = []
    var warnings: [String] = []
    var events: [Event] = []

    init(_ keyPair: KeyPair) { self.keyPair = keyPair }
}

/// One key pair's change with its audit entry.
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

    func perform(in transaction: any MerchantTransaction) throws {
        if after.state == .destroyed { try transaction.removeSealedPrivateKey(of: before.publicKeyHash) }
        try transaction.update(after)
        try transaction.append(audit)
    }
}

extension KeyTransitionPlan {
    /// Performs every change with what it means for the rolls, and stores the events. Ended rolls end first: the store
    /// holds no open roll to a key pair that is gone.
    func perform(in transaction: any MerchantTransaction, at now: Timestamp, for request: Request) throws {
        let effects = try RollEffects(of: changes, in: transaction)
        try effects.end(in: transaction, at: now, for: request)
        for change in changes { try change.perform(in: transaction) }
        try effects.begin(in: transaction, at: now, for: request)
        for event in events { try transaction.append(event) }
        for change in changes { try transaction.refreshIdleTime(of: change.after) }
    }
}
