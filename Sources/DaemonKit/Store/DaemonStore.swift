import MerchantCore
import PostgresStore
import SQLiteStore

/// Reports whether a store accepts writes.
protocol StoreHealthReporting: Sendable {
    var health: StoreHealth { get }
}

/// The store, as the composition root passes it on. Each part of the daemon gets only the ports that it needs.
typealias DaemonStore = MerchantRepository & KeyRotationStore & StoreHealthReporting

extension SQLiteStore: StoreHealthReporting {}
extension PostgresStore: StoreHealthReporting {}
