import MerchantCore
import Synchronization
package import Vocabulary

/// Collects which key pairs have changed, until a task takes them. The store notifies this object.
package final class ChangedKeys: KeyChangeObserver {
    package enum Changes: Equatable, Sendable {
        case keys(Set<PublicKeyHash>)
        /// Any key pair may have changed: more than ``ChangedKeys/limit`` did, or the store does not know which.
        case many
    }

    /// The largest number of key pairs that are collected.
    static let limit = 10_000

    private let changes = Mutex(Changes.keys([]))
    /// Signals that there are changes to take.
    let signal = ChangeSignal()

    package init() {}

    package func keysChanged(_ hashes: [PublicKeyHash]) {
        changes.withLock { changes in
            guard case .keys(let collected) = changes else { return }
            let all = collected.union(hashes)
            changes = all.count <= Self.limit ? .keys(all) : .many
        }
        signal.send()
    }

    package func allKeysChanged() {
        changes.withLock { $0 = .many }
        signal.send()
    }

    /// Returns the changes since the last call.
    package func take() -> Changes {
        changes.withLock { changes in
            defer { changes = .keys([]) }
            return changes
        }
    }
}
