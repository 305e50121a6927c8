import MerchantCore
package import MerchantOperations
import Synchronization
package import Vocabulary

/// Encoded responses to `GET /v1/keys/{publicKeyHash}` for active keys, so that most requests cost one look-up.
///
/// A change takes effect at the next request: ``keysChanged(_:)`` is called after the commit and before the caller who made
/// the change gets a response. A reader that read the store before the change has an outdated ticket, so its entry is
/// dropped. The memory is bounded; entries that were not used recently are evicted first.
package final class KeyResponseCache: KeyChangeObserver, Sendable {
    /// Entries are read again after this time, because a certificate can begin or end without any notice.
    static let freshMilliseconds: Int64 = 60_000
    /// Approximate memory of an entry beside its bytes.
    private static let overhead = 256
    private static let shardCount = 16

    /// What is known of an active key.
    package struct Entry: Sendable {
        let merchantIdentifier: MerchantIdentifier
        let algorithm: KeyAlgorithm
        let response: EncodedResponse
        let readAt: Timestamp
        /// Counts the uses of the key.
        let uses: KeyUseCounter?

        package init(
            merchantIdentifier: MerchantIdentifier, algorithm: KeyAlgorithm, response: EncodedResponse,
            readAt: Timestamp,
            uses: KeyUseCounter? = nil
        ) {
            self.merchantIdentifier = merchantIdentifier
            self.algorithm = algorithm
            self.response = response
            self.readAt = readAt
            self.uses = uses
        }

        fileprivate var cost: Int { response.footprint + KeyResponseCache.overhead }

        /// An entry is also stale where the clock was set back.
        fileprivate func isFresh(at now: Timestamp) -> Bool {
            (0..<KeyResponseCache.freshMilliseconds).contains(
                now.millisecondsSince1970 - readAt.millisecondsSince1970)
        }
    }

    /// Taken before the store is read; invalid once any key of the same shard has changed.
    package struct Ticket: Sendable {
        fileprivate let epoch: UInt64
    }

    /// Two generations: a used entry moves to the young one, which becomes the old one when it is full.
    private struct Shard: ~Copyable {
        var epoch: UInt64 = 0
        var young: [PublicKeyHash: Entry] = [:]
        var old: [PublicKeyHash: Entry] = [:]
        var youngCost = 0

        mutating func insert(_ entry: Entry, for hash: PublicKeyHash, bound: Int) {
            if let former = young.updateValue(entry, forKey: hash) { youngCost -= former.cost }
            youngCost += entry.cost
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

    /// Holds a lock, which cannot be an array's element itself.
    private final class Box: Sendable {
        let shard = Mutex(Shard())
    }

    private let boxes: [Box]
    private let generationBound: Int

    /// - Parameter maximumBytes: of memory; an entry takes about 2.5 KiB.
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

    package func entry(for hash: PublicKeyHash, at now: Timestamp) -> Entry? {
        box(of: hash).shard.withLock { shard in
            if let entry = shard.young[hash] { return entry.isFresh(at: now) ? entry : nil }
            guard let entry = shard.old[hash], entry.isFresh(at: now) else { return nil }
            shard.insert(entry, for: hash, bound: generationBound)
            return entry
        }
    }

    package func ticket(for hash: PublicKeyHash) -> Ticket { box(of: hash).shard.withLock { Ticket(epoch: $0.epoch) } }

    package func fill(_ entry: Entry, for hash: PublicKeyHash, _ ticket: Ticket) {
        box(of: hash).shard.withLock { shard in
            guard shard.epoch == ticket.epoch else { return }
            shard.insert(entry, for: hash, bound: generationBound)
        }
    }

    /// Approximate memory held; at most one entry for each shard above the bound.
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
