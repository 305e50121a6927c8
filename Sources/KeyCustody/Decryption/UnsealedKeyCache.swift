package import MerchantCore
import Synchronization
package import Vocabulary

/// A cache of unsealed keys with a limited capacity. If the cache is full, it evicts keys that were not used recently.
///
/// The cache evicts by the second-chance algorithm ("clock"). A hit sets the flag `wasUsed` of the key's slot. When a
/// key is inserted into a full cache, the hand (an index) moves from slot to slot. It clears each flag that is set, and
/// evicts the first key whose flag is not set.
///
/// The cache is created before the store, because the store notifies the cache of changed keys. ``KeyCustody`` is
/// created after the store, because it reads from the store. Therefore the cache is not part of ``KeyCustody``.
package final class UnsealedKeyCache: KeyChangeObserver {
    package static let defaultCapacity = 10_000

    /// A key that is being read from the store. If the key changes before the read ends, the read is stale.
    struct PendingRead: ~Copyable {
        fileprivate let hash: PublicKeyHash
    }

    private struct Slot {
        let hash: PublicKeyHash
        let key: DecryptionKey
        var wasUsed: Bool
    }

    private struct State {
        var slots: [Slot?] = []
        /// The indexes of empty slots.
        var vacant: [Int] = []
        /// For each key, the index of its slot.
        var indexes: [PublicKeyHash: Int] = [:]
        /// The index of the slot at which the next search for a key to evict begins.
        var hand = 0
        /// The keys that callers are reading from the store now. `count` is the number of callers that read the key.
        /// `isStale` says that the key has changed since the first of these reads began.
        var pendingReads: [PublicKeyHash: (count: Int, isStale: Bool)] = [:]
    }

    private let capacity: Int
    private let lease: Lease
    private let state = Mutex(State())

    /// - Parameters:
    ///   - capacity: the largest number of keys in the cache. Each key takes about 2 KB.
    ///   - lease: without a valid lease, no key of the cache is used.
    package init(capacity: Int = UnsealedKeyCache.defaultCapacity, lease: Lease = .unlimited) {
        self.capacity = max(1, capacity)
        self.lease = lease
    }

    /// The number of keys in the cache.
    package var count: Int { state.withLock { $0.indexes.count } }

    /// - Returns: nil if the cache does not contain the key, or if there is no valid lease.
    func key(_ hash: PublicKeyHash) -> DecryptionKey? {
        guard lease.isValid else { return nil }
        return state.withLock { state in
            guard let index = state.indexes[hash] else { return nil }
            state.slots[index]?.wasUsed = true
            return state.slots[index]?.key
        }
    }

    /// Call this before you read a key from the store, and call ``end(_:with:)`` after the read.
    func beginRead(_ hash: PublicKeyHash) -> PendingRead {
        state.withLock { $0.pendingReads[hash, default: (0, false)].count += 1 }
        return PendingRead(hash: hash)
    }

    /// Ends a read. Caches the key, unless the key pair has changed since the read began. In this case the read may
    /// have returned the state before the change, for example before a revocation.
    ///
    /// - Parameter key: nil if the read failed.
    func end(_ read: consuming PendingRead, with key: DecryptionKey?) {
        let hash = read.hash
        state.withLock { state in
            guard let pending = state.pendingReads[hash] else { return }
            state.pendingReads[hash] = pending.count > 1 ? (pending.count - 1, pending.isStale) : nil
            guard let key, !pending.isStale, state.indexes[hash] == nil else { return }
            let index = freeSlot(in: &state)
            state.slots[index] = Slot(hash: hash, key: key, wasUsed: false)
            state.indexes[hash] = index
        }
    }

    /// Removes the keys from the cache, and marks reads of these keys as stale.
    package func keysChanged(_ hashes: [PublicKeyHash]) {
        state.withLock { state in
            for hash in hashes {
                state.pendingReads[hash]?.isStale = true
                guard let index = state.indexes.removeValue(forKey: hash) else { continue }
                state.slots[index] = nil
                state.vacant.append(index)
            }
        }
    }

    /// Empties the cache, and marks all reads as stale.
    package func allKeysChanged() {
        state.withLock { state in
            for hash in state.pendingReads.keys { state.pendingReads[hash]?.isStale = true }
            (state.slots, state.vacant, state.indexes, state.hand) = ([], [], [:], 0)
        }
    }

    /// Returns the index of a vacant slot. If there is none, evicts a key.
    private func freeSlot(in state: inout State) -> Int {
        if let index = state.vacant.popLast() { return index }
        if state.slots.count < capacity {
            state.slots.append(nil)
            return state.slots.count - 1
        }
        // This loop ends within two rounds, because the first round clears every flag.
        while true {
            let index = state.hand
            state.hand = (state.hand + 1) % state.slots.count
            guard let found = state.slots[index], found.wasUsed else {
                // The key was not used since the hand last passed, so it is evicted.
                if let found = state.slots[index] { state.indexes[found.hash] = nil }
                return index
            }
            state.slots[index]?.wasUsed = false
        }
    }
}
