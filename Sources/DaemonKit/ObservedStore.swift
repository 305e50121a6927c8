import DecryptorServer
import KeyCustody
import MerchantCore
import MerchantOperations
import SQLiteStore

/// The daemon's store, with the parts that it notifies after each commit. Those parts are built before it and need no store.
struct ObservedStore {
    let store: SQLiteStore
    let clock: any WallClock
    let confirmedTime: ConfirmedTime
    let unsealedKeys = UnsealedKeyCache()
    let keyResponses = KeyResponseCache()
    let notifier = EventNotifier()

    /// - Parameter lock: keeps the end of the audit.
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
