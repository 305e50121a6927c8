import DecryptorServer
import KeyCustody
import MerchantCore
import MerchantOperations
import SQLiteStore

/// The daemon's store, together with its observers: the caches and the notifier, which the store calls after each
/// commit.
struct ObservedStore {
    let store: SQLiteStore
    let clock: any WallClock
    /// The daemon's own count of time, which does not change when somebody sets the machine's clock.
    let confirmedTime: ConfirmedTime
    let unsealedKeys = UnsealedKeyCache()
    let keyResponses = KeyResponseCache()
    let identities = IdentityCache()
    let changedKeys = ChangedKeys()
    let notifier = EventNotifier()

    /// - Parameter lock: the lock whose file names the last audit record. The store calls the lock after each
    ///   commit, so that the next start detects an older copy of the database.
    init(path: String, clock: any WallClock, lock: InstanceLock) throws {
        let database = try OpenedDatabase(path: path, clock: clock)
        self.clock = clock
        do {
            confirmedTime = ConfirmedTime(
                clock: clock, last: try database.readOrClose { try ClockOperations.lastConfirmedTime(in: $0) })
        } catch {
            // If the database file was replaced while it was open, its write-ahead log does not belong to the new file.
            // With this entry in the lock file, the next start does not apply the log to the new file.
            if let openInode = database.checkForReplacement() { lock.markDatabaseReplaced(openInode) }
            throw error
        }
        store = SQLiteStore(
            database, clock: clock,
            observers: StoreObservers(
                keys: [unsealedKeys, keyResponses, identities, changedKeys], events: notifier, audit: lock),
            confirmedTime: confirmedTime)
    }
}
