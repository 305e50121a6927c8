import Synchronization
import Vocabulary

/// A bounded memory of unsealed keys: the ones in use stay, the rest make room.
///
/// Second chance ("clock"): a hit marks its place; the hand passes marked places once, taking their mark, and puts the new
/// key in the first unmarked one.
final class HotKeys: Sendable {
    /// Proof that a key was read after the changes known then. A change in between makes it void.
    struct Fill: ~Copyable {
        fileprivate let hash: PublicKeyHash
    }

    private struct Place {
        let hash: PublicKeyHash
        let key: DecryptionKey
        var wasUsed: Bool
    }

    private struct State {
        var places: [Place?] = []
        var vacant: [Int] = []
        var indexes: [PublicKeyHash: Int] = [:]
        var hand = 0
        /// Keys being read at this moment: by how many callers, and whether they changed meanwhile.
        var fills: [PublicKeyHash: (count: Int, isStale: Bool)] = [:]
    }

    private let capacity: Int
    private let state = Mutex(State())

    init(capacity: Int) { self.capacity = max(1, capacity) }

    var count: Int { state.withLock { $0.indexes.count } }

    func key(_ hash: PublicKeyHash) -> DecryptionKey? {
        state.withLock { state in
            guard let index = state.indexes[hash] else { return nil }
            state.places[index]?.wasUsed = true
            return state.places[index]?.key
        }
    }

    /// To be called before the key is read from the store; each must be ended by ``end(_:with:)``.
    func begin(_ hash: PublicKeyHash) -> Fill {
        state.withLock { $0.fills[hash, default: (0, false)].count += 1 }
        return Fill(hash: hash)
    }

    /// Keeps the key, unless it changed since the fill began: what was read then may be what the change withdrew.
    func end(_ fill: consuming Fill, with key: DecryptionKey?) {
        let hash = fill.hash
        state.withLock { state in
            guard let current = state.fills[hash] else { return }
            state.fills[hash] = current.count > 1 ? (current.count - 1, current.isStale) : nil
            guard let key, !current.isStale, state.indexes[hash] == nil else { return }
            let index = place(in: &state)
            state.places[index] = Place(hash: hash, key: key, wasUsed: false)
            state.indexes[hash] = index
        }
    }

    func forget(_ hashes: [PublicKeyHash]) {
        state.withLock { state in
            for hash in hashes {
                state.fills[hash]?.isStale = true
                guard let index = state.indexes.removeValue(forKey: hash) else { continue }
                state.places[index] = nil
                state.vacant.append(index)
            }
        }
    }

    /// A free place, made free if need be.
    private func place(in state: inout State) -> Int {
        if let index = state.vacant.popLast() { return index }
        if state.places.count < capacity {
            state.places.append(nil)
            return state.places.count - 1
        }
        // Ends within two turns: the first takes every mark.
        while true {
            let index = state.hand
            state.hand = (state.hand + 1) % state.places.count
            guard let found = state.places[index], found.wasUsed else {
                if let found = state.places[index] { state.indexes[found.hash] = nil }
                return index
            }
            state.places[index]?.wasUsed = false
        }
    }
}
