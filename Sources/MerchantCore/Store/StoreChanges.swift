package import Vocabulary

/// The changes of one transaction, or of several that are committed together. After the commit, the store notifies its
/// observers of these changes.
package struct StoreChanges: Sendable {
    /// The key pairs that were changed, without new pending key pairs.
    package private(set) var changedKeys: Set<PublicKeyHash> = []
    /// Whether at least one of the key pairs was changed after its insertion, so that a daemon may have it in memory.
    package private(set) var changesKnownKeys = false
    /// Whether events or deliveries to webhooks may have been added.
    package private(set) var mayHaveNewEvents = false
    /// The last audit record that was appended; nil if none was appended.
    package private(set) var auditHead: AuditHead?
    /// The actions of the audit records that were appended.
    package private(set) var auditedActions: [AuditAction] = []

    package init() {}

    package mutating func noteKeyPair(_ hash: PublicKeyHash) {
        changedKeys.insert(hash)
        changesKnownKeys = true
    }

    /// Notes a key pair that was inserted. No daemon uses a pending key pair, so no observer needs to know it.
    package mutating func noteNew(_ keyPair: KeyPair) {
        if keyPair.state != .pending { changedKeys.insert(keyPair.publicKeyHash) }
    }

    package mutating func noteEvents() { mayHaveNewEvents = true }

    package mutating func note(_ record: AuditRecord) {
        auditHead = AuditHead(sequence: record.sequence, hash: record.hash)
        auditedActions.append(record.entry.action)
    }

    /// Adds the changes of a later transaction.
    package mutating func add(_ other: StoreChanges) {
        changedKeys.formUnion(other.changedKeys)
        changesKnownKeys = changesKnownKeys || other.changesKnownKeys
        mayHaveNewEvents = mayHaveNewEvents || other.mayHaveNewEvents
        auditHead = other.auditHead ?? auditHead
        auditedActions += other.auditedActions
    }
}

extension StoreObservers {
    /// Notifies the observers of committed changes.
    ///
    /// - Parameter logGeneration: the generation for ``AuditObserver/auditGrew(to:inLog:)``. Evaluated only if the
    ///   audit has grown and has an observer.
    package func notify(_ changes: StoreChanges, logGeneration: @autoclosure () -> String = "") {
        if let head = changes.auditHead, let audit { audit.auditGrew(to: head, inLog: logGeneration()) }
        if !changes.changedKeys.isEmpty {
            let hashes = Array(changes.changedKeys)
            for observer in keys { observer.keysChanged(hashes) }
        }
        if changes.mayHaveNewEvents { events?.eventsChanged() }
    }
}
