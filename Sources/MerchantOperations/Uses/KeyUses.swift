import MerchantCore
import Synchronization
package import Vocabulary

/// The observed uses of key pairs that are not stored yet.
///
/// A request only changes a counter in memory; ``KeyUseRecording`` stores the counters every few seconds.
package final class KeyUses: Sendable {
    private struct State {
        var gathered: [PublicKeyHash: KeyUse] = [:]
        /// The counters that were used since the last collection, each with the time of its first use since then.
        var active: [(counter: KeyUseCounter, first: Int64)] = []
        /// Collections that are being stored, by number.
        var storing: [Int: State] = [:]
        var collections = 0

        func lastUse(of hash: PublicKeyHash) -> Timestamp? {
            // `take()` sets a counter's count to zero, but not the time of its last use.
            let counted = active.filter { $0.counter.hash == hash }.map(\.counter.lastUse)
            let collected = storing.values.compactMap { $0.lastUse(of: hash) }
            return (counted + collected + [gathered[hash]?.lastRequest].compactMap(\.self)).max()
        }
    }

    /// The uses that one call of ``KeyUses/collect()`` has removed from memory in order to store them.
    struct Collection {
        fileprivate let number: Int
        let uses: [PublicKeyHash: KeyUse]
    }

    private let state = Mutex(State())

    package init() {}

    /// A counter for one key pair, for a cache that serves many requests for it.
    package func counter(for hash: PublicKeyHash) -> KeyUseCounter { KeyUseCounter(hash, of: self) }

    /// Counts a request that named the key pair.
    package func recordRequest(_ hash: PublicKeyHash, at now: Timestamp) {
        add(KeyUse(requests: ObservedUse(count: 1, first: now, last: now)), for: hash)
    }

    /// Counts a verified token that the key has decrypted, with a correct GCM tag.
    package func recordDecryption(_ hash: PublicKeyHash, at now: Timestamp) {
        add(KeyUse(decryptions: ObservedUse(count: 1, first: now, last: now)), for: hash)
    }

    /// Adds a new use, or adds one again that could not be stored.
    func add(_ use: KeyUse, for hash: PublicKeyHash) {
        state.withLock { $0.gathered[hash, default: KeyUse()].add(use) }
    }

    /// The time of the last use of the key pair that may not be in the store yet; nil if there is none.
    func lastUse(of hash: PublicKeyHash) -> Timestamp? { state.withLock { $0.lastUse(of: hash) } }

    /// Called by a counter at its first use after a collection.
    fileprivate func enlist(_ counter: KeyUseCounter, first: Int64) {
        state.withLock { $0.active.append((counter, first)) }
    }

    /// Removes all uses, so that the caller can store them. ``lastUse(of:)`` includes them until ``forget(_:)`` is
    /// called.
    func collect() -> Collection {
        let (number, taken) = state.withLock { state in
            let taken = State(gathered: state.gathered, active: state.active)
            (state.gathered, state.active) = ([:], [])
            state.collections += 1
            state.storing[state.collections] = taken
            return (state.collections, taken)
        }
        var gathered = taken.gathered
        for (counter, first) in taken.active {
            let (count, last) = counter.take()
            let use = ObservedUse(
                count: count, first: Timestamp(millisecondsSince1970: min(first, last)),
                last: Timestamp(millisecondsSince1970: last))
            gathered[counter.hash, default: KeyUse()].add(KeyUse(requests: use))
        }
        return Collection(number: number, uses: gathered)
    }

    /// Called when the uses of a collection are in the store, or were added again.
    func forget(_ collection: Collection) { state.withLock { $0.storing[collection.number] = nil } }
}

/// The number of requests for one key pair since the last collection.
package final class KeyUseCounter: Sendable {
    let hash: PublicKeyHash
    private let uses: KeyUses
    private let count = Atomic<Int>(0)
    private let last = Atomic<Int64>(0)

    fileprivate init(_ hash: PublicKeyHash, of uses: KeyUses) {
        self.hash = hash
        self.uses = uses
    }

    /// Costs two atomic writes; the first use after a collection also takes a lock for a short time.
    ///
    /// Not inlined, so that its cost can be measured.
    @inline(never)
    package func record(at now: Timestamp) {
        last.store(now.millisecondsSince1970, ordering: .relaxed)
        // The ordering ensures that `take()` sees the time that was stored above.
        guard count.add(1, ordering: .acquiringAndReleasing).oldValue == 0 else { return }
        uses.enlist(self, first: now.millisecondsSince1970)
    }

    fileprivate var lastUse: Timestamp { Timestamp(millisecondsSince1970: last.load(ordering: .relaxed)) }

    fileprivate func take() -> (count: Int, last: Int64) {
        let taken = count.exchange(0, ordering: .acquiringAndReleasing)
        return (taken, last.load(ordering: .relaxed))
    }
}
