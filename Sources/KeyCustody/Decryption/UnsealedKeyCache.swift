import MerchantCore
import Synchronization
package import Vocabulary

/// A bounded cache of unsealed keys. Keys in use stay; others make room.
///
/// It evicts by the second-chance algorithm ("clock"): a hit marks its slot. The hand clears the marks that it passes and puts
/// the new key in the first slot without a mark.
///
/// It is apart from ``KeyCustody`` because the store notifies it of changes, and the custody reads from the store.
package final class UnsealedKeyCache: KeyChangeObserver {
    package static let defaultCapacity = 10_000

    /// A key that is being read from the store. A change of the key in the meantime makes the read stale.
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
        var vacant: [Int] = []
        var indexes: [PublicKeyHash: Int] = [:]
        var hand = 0
        /// Keys being read now: by how many callers, and whether the key has changed since the first of them began.
        var pendingReads: [PublicKeyHash: (count: Int, isStale: Bool)] = [:]
    }

    private let capacity: Int
    private let state = Mutex(State())

    /// - Parameter capacity: how many keys may stay unsealed, about 2 KB each.
    package init(capacity: Int = UnsealedKeyCache.defaultCapacity) { self.capacity = max(1, capacity) }

    /// How many keys are unsealed now.
    package var count: Int { state.withLock { $0.indexes.count } }

    func key(_ hash: PublicKeyHash) -> DecryptionKey? {
        state.withLock { state in
            guard let index = state.indexes[hash] else { return nil }
            state.slots[index]?.wasUsed = true
            return state.slots[index]?.key
        }
    }

    /// Must be called before the key is read from the store. Each read must be ended by ``end(_:with:)``.
    func beginRead(_ hash: PublicKeyHash) -> PendingRead {
        state.withLock { $0.pendingReads[hash, default: (0, false)].count += 1 }
        return PendingRead(hash: hash)
    }

    /// Caches the key, unless it has changed since the read began: what was read may be what the change revoked.
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

    /// Removes the keys.
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

    /// A vacant slot; evicts a key if there is none.
    private func freeSlot(in state: inout State) -> Int {
        if let index = state.vacant.popLast() { return index }
        if state.slots.count < capacity {
            state.slots.append(nil)
            return state.slots.count - 1
        }
        // Ends within two rounds: the first clears every mark.
        while true {
            let index = state.hand
            state.hand = (state.hand + 1) % state.slots.count
            guard let found = state.slots[index], found.wasUsed else {
                if let found = state.slots[index] { state.indexes[found.hash] = nil }
                return index
            }
            state.slots[index]?.wasUsed = false
        }
    }
}
