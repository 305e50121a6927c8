package import MerchantCore
package import Vocabulary

extension MerchantOperations {
    /// Begins the waiting times again that end in something that cannot be undone. For a database that is older than it once
    /// was: what happened since is not in it, so that a waiting time in it may be over by mistake.
    ///
    /// - A private key whose destruction is scheduled waits ``defaultDestructionWait`` again: it may have been restored since.
    /// - The quiet period of every open roll begins again: the old key may have been asked for since.
    ///
    /// - Parameter exported: keys that are known to have been exported since; they are on record as exported from now on.
    package static func beginWaitingTimesAgain(
        at now: Timestamp, exported: [PublicKeyHash] = [], in transaction: any MerchantTransaction
    ) throws {
        let earliest = now.adding(defaultDestructionWait)
        for var keyPair in try transaction.keyPairsAwaitingDestruction(limit: .max)
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
            // In place of the requests that are not known.
            use.add(KeyUse(requests: ObservedUse(count: 1, first: now, last: now)))
            try transaction.setKeyUse(use, of: from.publicKeyHash)
            try transaction.refreshIdleTime(of: from)
        }
    }
}
