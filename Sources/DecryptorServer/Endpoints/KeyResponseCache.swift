package import MerchantCore
package import MerchantOperations
package import MetricsKit
import Synchronization
package import Vocabulary

/// Encoded responses to `GET /v1/keys/{publicKeyHash}` for active keys, so that most requests need no read of the
/// store.
///
/// A change of a key by this daemon takes effect at the next request: after the commit, the store calls
/// ``keysChanged(_:)``, and only then does the caller who made the change get a response. A request that read the store
/// before the change has an outdated ``Ticket``, so ``fill(_:for:_:)`` ignores its entry.
///
/// A certificate becomes valid or expires without a call of ``keysChanged(_:)``. So each entry contains the period in
/// which its response is right. The age of an entry is not limited: while the database cannot be reached, the entries
/// are used as long as the lease is valid.
///
/// The memory is bounded, and entries that were not used recently are evicted first.
package final class KeyResponseCache: KeyChangeObserver, Sendable {
    /// The approximate memory of an entry without its response, in bytes.
    private static let overhead = 256
    /// A power of two, because ``lockedShard(of:)`` selects a shard by the low bits of the hash value.
    private static let shardCount = 16

    /// What the cache stores for an active key. A class, because every request copies a reference to its entry.
    package final class Entry: Sendable {
        let merchantIdentifier: MerchantIdentifier
        let algorithm: KeyAlgorithm
        let response: EncodedResponse
        /// When ``response`` is right: while its certificate is the certificate in use. The other properties do not
        /// depend on the time.
        let period: Range<Timestamp>
        /// Counts the requests for the key that are served from the cache; nil if these requests are not counted.
        let uses: KeyUseCounter?

        package init(
            merchantIdentifier: MerchantIdentifier, algorithm: KeyAlgorithm, response: EncodedResponse,
            period: Range<Timestamp>, uses: KeyUseCounter? = nil
        ) {
            self.merchantIdentifier = merchantIdentifier
            self.algorithm = algorithm
            self.response = response
            self.period = period
            self.uses = uses
        }

        fileprivate var cost: Int { response.footprint + KeyResponseCache.overhead }

        fileprivate func isValid(at now: Timestamp?) -> Bool {
            guard let now else { return true }
            return period.contains(now)
        }
    }

    /// Shows whether a key changed while a request read the store. The request takes a ticket before it reads. The
    /// ticket becomes invalid when any key of the same shard changes.
    package struct Ticket: Sendable {
        fileprivate let epoch: UInt64
    }

    /// A part of the cache with its own lock, in two generations. An entry that is used moves to the young generation.
    /// When the young generation is full, the old generation is dropped, and the young generation becomes the old one.
    private struct Shard: ~Copyable {
        var epoch: UInt64 = 0
        var young: [PublicKeyHash: Entry] = [:]
        var old: [PublicKeyHash: Entry] = [:]
        var youngCost = 0
        var hits = 0
        var misses = 0

        /// - Parameter limit: how many bytes the young generation may use.
        mutating func insert(_ entry: Entry, for hash: PublicKeyHash, limit: Int) {
            if let former = young.updateValue(entry, forKey: hash) { youngCost -= former.cost }
            youngCost += entry.cost
            guard youngCost > limit else { return }
            old = young
            young = [:]
            youngCost = 0
        }

        /// Also makes every ticket invalid.
        mutating func removeAll() {
            epoch += 1
            (young, old) = ([:], [:])
            youngCost = 0
        }

        mutating func remove(_ hash: PublicKeyHash) {
            if let former = young.removeValue(forKey: hash) { youngCost -= former.cost }
            old.removeValue(forKey: hash)
        }
    }

    /// A class around a `Mutex`, because a `Mutex` is noncopyable and cannot be an element of an array.
    private final class LockedShard: Sendable {
        let shard = Mutex(Shard())
    }

    private let lease: Lease
    private let shards: [LockedShard]
    /// The limit in bytes for one generation of one shard.
    private let generationLimit: Int

    /// - Parameters:
    ///   - maximumBytes: the limit of the memory of all entries. An entry takes about 2.5 KiB.
    ///   - lease: without a valid lease, no entry is used.
    package init(maximumBytes: Int = 64 * 1024 * 1024, lease: Lease = .unlimited) {
        self.lease = lease
        shards = (0..<Self.shardCount).map { _ in LockedShard() }
        generationLimit = maximumBytes / Self.shardCount / 2
    }

    package func keysChanged(_ hashes: [PublicKeyHash]) {
        for hash in hashes {
            lockedShard(of: hash).shard.withLock {
                $0.epoch += 1
                $0.remove(hash)
            }
        }
    }

    package func allKeysChanged() {
        for lockedShard in shards { lockedShard.shard.withLock { $0.removeAll() } }
    }

    /// Returns the entry of a key; nil if there is none or no valid lease.
    ///
    /// - Parameter now: returns an entry only if its response is right at this time; nil if the caller does not use the
    ///   response.
    package func entry(for hash: PublicKeyHash, at now: Timestamp? = nil) -> Entry? {
        let mayUse = lease.isValid
        return lockedShard(of: hash).shard.withLock { shard in
            let young = shard.young[hash]
            guard mayUse, let entry = young ?? shard.old[hash], entry.isValid(at: now) else {
                shard.misses += 1
                return nil
            }
            shard.hits += 1
            if young == nil { shard.insert(entry, for: hash, limit: generationLimit) }
            return entry
        }
    }

    package func ticket(for hash: PublicKeyHash) -> Ticket {
        lockedShard(of: hash).shard.withLock { Ticket(epoch: $0.epoch) }
    }

    /// Adds an entry, unless the ticket is invalid: then the entry may be outdated.
    package func fill(_ entry: Entry, for hash: PublicKeyHash, _ ticket: Ticket) {
        lockedShard(of: hash).shard.withLock { shard in
            guard shard.epoch == ticket.epoch else { return }
            shard.insert(entry, for: hash, limit: generationLimit)
        }
    }

    /// The approximate memory of all entries, in bytes. It exceeds the limit by at most one entry for each shard.
    package var footprint: Int {
        shards.reduce(0) { sum, lockedShard in
            sum
                + lockedShard.shard.withLock { shard in
                    shard.youngCost + shard.old.values.reduce(0) { $0 + $1.cost }
                }
        }
    }

    /// How often ``entry(for:at:)`` returned an entry, and how often it returned none.
    package var lookups: (hits: Int, misses: Int) {
        shards.reduce((0, 0)) { sum, lockedShard in
            lockedShard.shard.withLock { (sum.0 + $0.hits, sum.1 + $0.misses) }
        }
    }

    private func lockedShard(of hash: PublicKeyHash) -> LockedShard { shards[hash.hashValue & (Self.shardCount - 1)] }
}

extension KeyResponseCache: MetricsSource {
    package func append(to page: inout MetricsText) {
        let (hits, misses) = lookups
        page.append(
            "merchantkeyd_key_cache_lookups_total", .counter,
            "Lookups of a key in the decryptor server's cache. After a miss, the key is read from the database.",
            [
                MetricsText.Sample([("result", "hit")], hits), MetricsText.Sample([("result", "miss")], misses),
            ])
        page.append(
            gauge: "merchantkeyd_key_cache_bytes", "Approximate memory of the decryptor server's cache.", footprint)
    }
}
