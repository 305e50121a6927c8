import DecryptorServer
import KeyCustody
import MerchantCore
import MerchantOperations
import SQLiteStore

/// The daemon's store, with the caches and the notifier that it calls after each commit. These do not use the store, so
/// they are created before it.
struct ObservedStore {
    let store: SQLiteStore
    let clock: any WallClock
    let confirmedTime: ConfirmedTime
    let unsealedKeys = UnsealedKeyCache()
    let keyResponses = KeyResponseCache()
    let notifier = EventNotifier()

    /// - Parameter lock: receives the last audit record after each commit.
    init(path: String, clock: any WallClock, lock: InstanceLock) throws {
        let database = try OpenedDatabase(path: path, clock: clock)
        self.clock = clock
        do {
            confirmedTime = ConfirmedTime(
                clock: clock, last: try database.readOrClose { try ClockOperations.lastConfirmedTime(in: $0) })
        } catch {
            // The log belongs to the file that was moved.
            if let replaced = database.checkPlace() { lock.markReplaced(replaced) }
            throw error
        }
        store = SQLiteStore(
            database, clock: clock,
            observers: StoreObservers(keys: [unsealedKeys, keyResponses], events: notifier, audit: lock),
            confirmedTime: confirmedTime)
    }
}
