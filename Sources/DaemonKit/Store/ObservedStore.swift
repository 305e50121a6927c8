import MerchantCore

/// The daemon's store, together with the caches and the notifier that the store notifies after each commit.
struct ObservedStore {
    let store: any DaemonStore
    let clock: any WallClock
    /// The daemon's own count of time, which does not change when somebody sets the machine's clock.
    let confirmedTime: ConfirmedTime
    let caches: StoreCaches
}
