import MerchantCore
import Synchronization
package import Vocabulary

/// What was seen of keys' uses and is not stored yet.
///
/// A payment's request leaves a number in memory and waits for nothing; a service stores what gathered every few seconds.
package final class KeyUses: Sendable {
    private struct State {
        var gathered: [PublicKeyHash: KeyUse] = [:]
        /// Counters that were used since the last collection, each once, with the time of the first use.
        var active: [(counter: KeyUseCounter, first: Int64)] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// A counter of its own for one key, for whoever answers for it over and over.
    package func counter(for hash: PublicKeyHash) -> KeyUseCounter { KeyUseCounter(hash, of: self) }

    /// Somebody asked for the key by its public hash.
    package func recordAsked(_ hash: PublicKeyHash, at now: Timestamp) {
        add(KeyUse(askedFor: ObservedUse(count: 1, first: now, last: now)), for: hash)
    }

    /// A token verified, decrypted and passed its GCM tag.
    package func recordProven(_ hash: PublicKeyHash, at now: Timestamp) {
        add(KeyUse(proven: ObservedUse(count: 1, first: now, last: now)), for: hash)
    }

    /// Puts back what could not be stored.
    func add(_ use: KeyUse, for hash: PublicKeyHash) {
        state.withLock { $0.gathered[hash, default: KeyUse()].add(use) }
    }

    /// When the key was last used since the last collection; nil where it was not.
    func lastUse(of hash: PublicKeyHash) -> Timestamp? {
        state.withLock { state in
            let counted = state.active.filter { $0.counter.hash == hash }.map(\.counter.lastUse)
            return (counted + [state.gathered[hash]?.lastRequest].compactMap(\.self)).max()
        }
    }

    fileprivate func enlist(_ counter: KeyUseCounter, first: Int64) {
        state.withLock { $0.active.append((counter, first)) }
    }

    /// Takes everything that gathered.
    func collect() -> [PublicKeyHash: KeyUse] {
        var (gathered, active) = state.withLock { state in
            defer { state = State() }
            return (state.gathered, state.active)
        }
        for (counter, first) in active {
            let (count, last) = counter.take()
            let use = ObservedUse(
                count: count, first: Timestamp(millisecondsSince1970: min(first, last)),
                last: Timestamp(millisecondsSince1970: last))
            gathered[counter.hash, default: KeyUse()].add(KeyUse(askedFor: use))
        }
        active = []
        return gathered
    }
}

/// How often one key was asked for since the last collection.
package final class KeyUseCounter: Sendable {
    let hash: PublicKeyHash
    private let uses: KeyUses
    private let count = Atomic<Int>(0)
    private let last = Atomic<Int64>(0)

    fileprivate init(_ hash: PublicKeyHash, of uses: KeyUses) {
        self.hash = hash
        self.uses = uses
    }

    /// Two atomic writes; the first use after a collection also takes a lock that no other request holds for long.
    ///
    /// Not inlined, so that what it costs can be counted.
    @inline(never)
    package func record(at now: Timestamp) {
        last.store(now.millisecondsSince1970, ordering: .relaxed)
        // Whoever takes the count sees the time that was stored before it.
        guard count.add(1, ordering: .acquiringAndReleasing).oldValue == 0 else { return }
        uses.enlist(self, first: now.millisecondsSince1970)
    }

    fileprivate var lastUse: Timestamp { Timestamp(millisecondsSince1970: last.load(ordering: .relaxed)) }

    fileprivate func take() -> (count: Int, last: Int64) {
        let taken = count.exchange(0, ordering: .acquiringAndReleasing)
        return (taken, last.load(ordering: .relaxed))
    }
}
