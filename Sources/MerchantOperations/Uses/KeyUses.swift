import MerchantCore
import Synchronization
package import Vocabulary

/// Counts the uses of key pairs in memory until they are stored.
///
/// A request only changes a counter in memory, because a write to the database would delay the response.
/// ``KeyUseRecording`` stores the counters every few seconds.
package final class KeyUses: Sendable {
    private struct State {
        /// The uses since the last call of ``KeyUses/collect()`` that no ``KeyUseCounter`` has counted, and earlier
        /// uses that could not be stored.
        var uses: [PublicKeyHash: KeyUse] = [:]
        /// The counters that were used since the last call of ``KeyUses/collect()``, each with the time of its first
        /// use since then, in milliseconds since 1970.
        var usedCounters: [(counter: KeyUseCounter, first: Int64)] = []
        /// The uses that are being stored, by the number of the call of ``KeyUses/collect()``.
        var beingStored: [Int: State] = [:]
        /// The number of calls of ``KeyUses/collect()``.
        var collectCalls = 0

        func lastUse(of hash: PublicKeyHash) -> Timestamp? {
            // Works for collected counters too: `take()` sets a counter's count to zero, but keeps the time of its last
            // use.
            let counted = usedCounters.filter { $0.counter.hash == hash }.map(\.counter.lastUse)
            let collected = beingStored.values.compactMap { $0.lastUse(of: hash) }
            return (counted + collected + [uses[hash]?.lastRequest].compactMap(\.self)).max()
        }
    }

    /// The uses that one call of ``KeyUses/collect()`` returned, so that the caller stores them.
    struct CollectedUses {
        fileprivate let number: Int
        let uses: [PublicKeyHash: KeyUse]
    }

    private let state = Mutex(State())

    package init() {}

    /// A counter for one key pair, with which a cache of responses counts requests at little cost.
    package func counter(for hash: PublicKeyHash) -> KeyUseCounter { KeyUseCounter(hash, of: self) }

    /// Counts a request that named the key pair.
    package func recordRequest(_ hash: PublicKeyHash, at now: Timestamp) {
        add(KeyUse(requests: Occurrences(count: 1, first: now, last: now)), for: hash)
    }

    /// Counts a verified payment token, or verified metadata of a merchant token, that the key has decrypted with a
    /// correct GCM tag.
    package func recordDecryption(_ hash: PublicKeyHash, at now: Timestamp) {
        add(KeyUse(decryptions: Occurrences(count: 1, first: now, last: now)), for: hash)
    }

    /// Adds uses of a key pair: new uses, or collected uses that could not be stored.
    func add(_ use: KeyUse, for hash: PublicKeyHash) {
        state.withLock { $0.uses[hash, default: KeyUse()].add(use) }
    }

    /// The time of the key pair's last use among the uses in memory; nil if there is none.
    func lastUse(of hash: PublicKeyHash) -> Timestamp? { state.withLock { $0.lastUse(of: hash) } }

    /// The time of the last decryption with the key pair among the uses in memory; nil if there is none.
    func lastDecryption(with hash: PublicKeyHash) -> Timestamp? {
        state.withLock { state in
            ([state] + state.beingStored.values).compactMap { $0.uses[hash]?.decryptions?.last }.max()
        }
    }

    /// Called by a counter at its first use after a call of ``collect()``.
    fileprivate func addUsedCounter(_ counter: KeyUseCounter, first: Int64) {
        state.withLock { $0.usedCounters.append((counter, first)) }
    }

    /// Removes all uses and returns them, so that the caller can store them. ``lastUse(of:)`` includes them until the
    /// caller calls ``discard(_:)``.
    func collect() -> CollectedUses {
        let (number, collected) = state.withLock { state in
            let collected = State(uses: state.uses, usedCounters: state.usedCounters)
            (state.uses, state.usedCounters) = ([:], [])
            state.collectCalls += 1
            state.beingStored[state.collectCalls] = collected
            return (state.collectCalls, collected)
        }
        var uses = collected.uses
        for (counter, first) in collected.usedCounters {
            let (count, last) = counter.take()
            let use = Occurrences(
                count: count, first: Timestamp(millisecondsSince1970: min(first, last)),
                last: Timestamp(millisecondsSince1970: last))
            uses[counter.hash, default: KeyUse()].add(KeyUse(requests: use))
        }
        return CollectedUses(number: number, uses: uses)
    }

    /// Called when collected uses are stored, or were added again.
    func discard(_ collected: CollectedUses) { state.withLock { $0.beingStored[collected.number] = nil } }
}

/// The number of requests for one key pair since the last call of ``KeyUses/collect()``.
package final class KeyUseCounter: Sendable {
    let hash: PublicKeyHash
    private let uses: KeyUses
    private let count = Atomic<Int>(0)
    /// The time of the last request, in milliseconds since 1970.
    private let last = Atomic<Int64>(0)

    fileprivate init(_ hash: PublicKeyHash, of uses: KeyUses) {
        self.hash = hash
        self.uses = uses
    }

    /// Counts a request. Costs two atomic writes; the first call after ``KeyUses/collect()`` also takes a lock for a
    /// short time.
    ///
    /// Not inlined, so that its cost can be measured.
    @inline(never)
    package func record(at now: Timestamp) {
        last.store(now.millisecondsSince1970, ordering: .relaxed)
        // The ordering ensures that `take()` sees the time that was stored above.
        guard count.add(1, ordering: .acquiringAndReleasing).oldValue == 0 else { return }
        uses.addUsedCounter(self, first: now.millisecondsSince1970)
    }

    fileprivate var lastUse: Timestamp { Timestamp(millisecondsSince1970: last.load(ordering: .relaxed)) }

    /// Returns the number of requests and the time of the last one, and sets the number to zero.
    fileprivate func take() -> (count: Int, last: Int64) {
        let requests = count.exchange(0, ordering: .acquiringAndReleasing)
        return (requests, last.load(ordering: .relaxed))
    }
}
