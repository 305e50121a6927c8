import MerchantCore
package import MerchantOperations
import Synchronization
package import Vocabulary

/// Answers to `GET /v1/keys/{publicKeyHash}` for active keys, rendered, so that a payment's question costs a look-up.
///
/// A change is seen by the very next request: ``keysChanged(_:)`` is called after the commit and before whoever made the
/// change is answered. A reader that read the store before the change and comes to fill afterwards brings an outdated
/// ticket, and what it brings is dropped. Bounded by memory; what was not asked for lately goes first.
package final class AnswerCache: KeyChangeObserver, Sendable {
    /// A certificate may begin or end at any time, which nobody announces: answers are read again after so long.
    static let freshMilliseconds: Int64 = 60_000
    /// Memory of an entry beside its bytes, about.
    private static let overhead = 256
    private static let shardCount = 16

    /// What is known of an active key.
    package struct Answer: Sendable {
        let merchantIdentifier: MerchantIdentifier
        let algorithm: KeyAlgorithm
        let response: Response
        let readAt: Timestamp
        /// Where a use of the answer leaves its trace.
        let uses: KeyUseCounter?

        package init(
            merchantIdentifier: MerchantIdentifier, algorithm: KeyAlgorithm, response: Response, readAt: Timestamp,
            uses: KeyUseCounter? = nil
        ) {
            self.merchantIdentifier = merchantIdentifier
            self.algorithm = algorithm
            self.response = response
            self.readAt = readAt
            self.uses = uses
        }

        fileprivate var cost: Int { response.footprint + AnswerCache.overhead }

        /// A clock that was set back makes an answer old as well.
        fileprivate func isFresh(at now: Timestamp) -> Bool {
            (0..<AnswerCache.freshMilliseconds).contains(
                now.millisecondsSince1970 - readAt.millisecondsSince1970)
        }
    }

    /// Taken before the store is read; void once any key of the same shard changed.
    package struct Ticket: Sendable {
        fileprivate let epoch: UInt64
    }

    /// Two generations: what is used moves to the young one, which becomes the old one when it is full.
    private struct Shard: ~Copyable {
        var epoch: UInt64 = 0
        var young: [PublicKeyHash: Answer] = [:]
        var old: [PublicKeyHash: Answer] = [:]
        var youngCost = 0

        mutating func insert(_ answer: Answer, for hash: PublicKeyHash, bound: Int) {
            if let former = young.updateValue(answer, forKey: hash) { youngCost -= former.cost }
            youngCost += answer.cost
            guard youngCost > bound else { return }
            old = young
            young = [:]
            youngCost = 0
        }

        mutating func remove(_ hash: PublicKeyHash) {
            if let former = young.removeValue(forKey: hash) { youngCost -= former.cost }
            old.removeValue(forKey: hash)
        }
    }

    /// A lock in a box of its own, since it cannot be an array's element.
    private final class Box: Sendable {
        let shard = Mutex(Shard())
    }

    private let boxes: [Box]
    private let generationBound: Int

    /// - Parameter maximumBytes: of memory; an answer takes about 2.5 KiB.
    package init(maximumBytes: Int = 64 * 1024 * 1024) {
        boxes = (0..<Self.shardCount).map { _ in Box() }
        generationBound = maximumBytes / Self.shardCount / 2
    }

    package func keysChanged(_ hashes: [PublicKeyHash]) {
        for hash in hashes {
            box(of: hash).shard.withLock {
                $0.epoch += 1
                $0.remove(hash)
            }
        }
    }

    package func answer(for hash: PublicKeyHash, at now: Timestamp) -> Answer? {
        box(of: hash).shard.withLock { shard in
            if let answer = shard.young[hash] { return answer.isFresh(at: now) ? answer : nil }
            guard let answer = shard.old[hash], answer.isFresh(at: now) else { return nil }
            shard.insert(answer, for: hash, bound: generationBound)
            return answer
        }
    }

    package func ticket(for hash: PublicKeyHash) -> Ticket { box(of: hash).shard.withLock { Ticket(epoch: $0.epoch) } }

    package func fill(_ answer: Answer, for hash: PublicKeyHash, _ ticket: Ticket) {
        box(of: hash).shard.withLock { shard in
            guard shard.epoch == ticket.epoch else { return }
            shard.insert(answer, for: hash, bound: generationBound)
        }
    }

    /// Memory held, about; never more than the bound by more than one answer a shard.
    package var footprint: Int {
        boxes.reduce(0) { sum, box in
            sum
                + box.shard.withLock { shard in
                    shard.youngCost + shard.old.values.reduce(0) { $0 + $1.cost }
                }
        }
    }

    private func box(of hash: PublicKeyHash) -> Box { boxes[hash.hashValue & (Self.shardCount - 1)] }
}
