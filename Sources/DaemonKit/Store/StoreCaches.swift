import DecryptorServer
import KeyCustody
import MerchantCore
import MerchantOperations

/// The caches and the notifier, which the store notifies after each commit.
struct StoreCaches {
    let unsealedKeys: UnsealedKeyCache
    let keyResponses: KeyResponseCache
    let identities: IdentityCache
    let changedKeys = ChangedKeys()
    let notifier = EventNotifier()

    /// - Parameter lease: the caches are used only while this lease is valid.
    init(lease: Lease) {
        unsealedKeys = UnsealedKeyCache(lease: lease)
        keyResponses = KeyResponseCache(lease: lease)
        identities = IdentityCache(lease: lease)
    }

    /// - Parameter audit: is notified of each new audit head; nil: no observer.
    func observers(audit: (any AuditObserver)?) -> StoreObservers {
        StoreObservers(
            keys: [unsealedKeys, keyResponses, identities, changedKeys], events: notifier, audit: audit)
    }
}
