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
        /// What was collected and is on its way into storage, by the number of its collection.
        var storing: [Int: State] = [:]
        var collections = 0

        func lastUse(of hash: PublicKeyHash) -> Timestamp? {
            // A counter goes on telling its last use after its count was taken.
            let counted = active.filter { $0.counter.hash == hash }.map(\.counter.lastUse)
            let collected = storing.values.compactMap { $0.lastUse(of: hash) }
            return (counted + collected + [gathered[hash]?.lastRequest].compactMap(\.self)).max()
        }
    }

    /// What was taken to be stored; ``KeyUses/forget(_:)`` ends it.
    struct Collection {
        fileprivate let number: Int
        let uses: [PublicKeyHash: KeyUse]
    }

    private let state = Mutex(State())

    package init() {}

    /// A counter of its own for one key, for whoever answers for it over and over.
    package func counter(for hash: PublicKeyHash) -> KeyUseCounter { KeyUseCounter(hash, of: self) }

    /// Somebody asked for the key by its public hash.
    package func recordAsked(_ hash: PublicKeyHash, at now: Timestamp) {
        add(KeyUse(requests: ObservedUse(count: 1, first: now, last: now)), for: hash)
    }

    /// A token verified, decrypted and passed its GCM tag.
    package func recordProven(_ hash: PublicKeyHash, at now: Timestamp) {
        add(KeyUse(decryptions: ObservedUse(count: 1, first: now, last: now)), for: hash)
    }

    /// Puts back what could not be stored.
    func add(_ use: KeyUse, for hash: PublicKeyHash) {
        state.withLock { $0.gathered[hash, default: KeyUse()].add(use) }
    }

    /// When the key was last used, of the uses that are not known to be in the store; nil where there is none.
    func lastUse(of hash: PublicKeyHash) -> Timestamp? { state.withLock { $0.lastUse(of: hash) } }

    fileprivate func enlist(_ counter: KeyUseCounter, first: Int64) {
        state.withLock { $0.active.append((counter, first)) }
    }

    /// Takes everything that gathered. ``lastUse(of:)`` goes on telling of it until it is forgotten.
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

    /// A collection's uses are in the store, or were put back.
    func forget(_ collection: Collection) { state.withLock { $0.storing[collection.number] = nil } }
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
