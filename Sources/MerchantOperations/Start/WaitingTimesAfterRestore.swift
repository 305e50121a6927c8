package import MerchantCore
package import Vocabulary

/// Starts waiting times again, and ends the sessions at the portal, after the database was replaced with an older
/// database, such as a restored backup.
package enum WaitingTimesAfterRestore {
    package typealias Writer = KeyPairWriting & SealedKeyReading & KeyUseWriting & RollWriting & PortalSessionWriting

    /// Restarts the waiting times that end in an irreversible action, and ends every session at the portal.
    ///
    /// An older database lacks the changes and requests that came after it was copied. So a waiting time in that
    /// database may seem to be over although it is not.
    ///
    /// - A scheduled destruction of a private key waits at least ``KeyTransitionOperations/defaultDestructionWait``
    ///   from now, because an admin may have restored the key after the database was copied.
    /// - The quiet period of every open roll starts again, because the roll's old key may have been requested after the
    ///   database was copied.
    /// - Every session and every login of an operator is removed, because a session may have been ended after the
    ///   database was copied, for example when somebody signed out.
    ///
    /// - Parameter exported: key pairs that are known to have been exported after the database was copied. They are
    ///   marked as exported.
    package static func restart(
        at now: Timestamp, exported: [PublicKeyHash] = [], in transaction: any Writer
    ) throws {
        let earliest = now.adding(KeyTransitionOperations.defaultDestructionWait)
        for var keyPair in try transaction.keyPairsScheduledForDestruction(limit: .max)
        where keyPair.destroyAfter.map({ $0 < earliest }) ?? false {
            keyPair.destroyAfter = earliest
            try transaction.update(keyPair)
        }
        for hash in exported {
            guard var keyPair = try transaction.keyPair(hash), keyPair.exportedAt == nil else { continue }
            keyPair.exportedAt = now
            try transaction.update(keyPair)
        }
        let open = RollFilter(merchant: nil, step: .open)
        for roll in try transaction.rolls(open, before: nil, limit: .max) {
            guard let from = try roll.from.flatMap({ try transaction.keyPair($0) }) else { continue }
            var use = try transaction.keyUse(of: from.publicKeyHash) ?? KeyUse()
            // Count one request now, in place of the requests that the older database does not contain.
            use.add(KeyUse(requests: Occurrences(count: 1, first: now, last: now)))
            try transaction.setKeyUse(use, of: from.publicKeyHash)
            try transaction.updateIdleTime(ofRollWith: from)
        }
        _ = try transaction.removeAllSessions()
    }
}
