package import MerchantCore
import Synchronization
package import Vocabulary

/// Caches the identities that the daemon presented last, so that most requests to Apple need no read of the store.
///
/// A change of any key pair, as ``KeyChangeObserver`` reports it, empties the cache, before the caller who made the
/// change gets a response. The cache is created before the store, because the store notifies the cache.
package final class IdentityCache: KeyChangeObserver {
    /// The age at which an identity is read again. The limit is needed because a newer certificate of the owner becomes
    /// valid without a change of the store.
    static let maximumAgeMilliseconds: Int64 = 60_000
    private static let capacity = 1024

    /// The version of the data that an entry depends on, taken before the store is read. An entry may be outdated once
    /// the version has changed; it is then not used.
    package struct Version: Hashable, Sendable {
        fileprivate let changes: UInt64
        /// The generation of the setting `trust.certificate-issuers`.
        fileprivate let issuers: Int
    }

    private struct Entry {
        let identity: ClientIdentity
        let readAt: Timestamp
        let version: Version

        func isFresh(at now: Timestamp) -> Bool {
            // An entry from the future is not fresh either: the clock was set back after the entry was read.
            (0..<IdentityCache.maximumAgeMilliseconds).contains(
                now.millisecondsSince1970 - readAt.millisecondsSince1970)
                && identity.notBefore <= now && now <= identity.notAfter
        }
    }

    private struct State {
        var changes: UInt64 = 0
        var entries: [IdentityOwner: Entry] = [:]
    }

    private let lease: Lease
    private let state = Mutex(State())

    /// - Parameter lease: without a valid lease, no identity of the cache is used.
    package init(lease: Lease = .unlimited) { self.lease = lease }

    package func keysChanged(_ hashes: [PublicKeyHash]) { allKeysChanged() }

    package func allKeysChanged() {
        state.withLock { state in
            state.changes += 1
            state.entries.removeAll(keepingCapacity: true)
        }
    }

    /// - Parameter issuers: the generation of the setting `trust.certificate-issuers`.
    package func version(issuers: Int) -> Version { state.withLock { Version(changes: $0.changes, issuers: issuers) } }

    /// - Parameter issuers: the generation of the setting `trust.certificate-issuers`.
    /// - Returns: nil if the cache has no identity of the owner that may be used.
    package func identity(of owner: IdentityOwner, at now: Timestamp, issuers: Int) -> ClientIdentity? {
        guard lease.isValid else { return nil }
        return state.withLock { state in
            guard let entry = state.entries[owner], entry.version.issuers == issuers, entry.isFresh(at: now) else {
                return nil
            }
            return entry.identity
        }
    }

    /// Stores an identity that was read after `version` was taken.
    package func store(_ identity: ClientIdentity, of owner: IdentityOwner, readAt now: Timestamp, _ version: Version) {
        state.withLock { state in
            guard version.changes == state.changes else { return }
            if state.entries.count >= Self.capacity { state.entries.removeAll(keepingCapacity: true) }
            state.entries[owner] = Entry(identity: identity, readAt: now, version: version)
        }
    }
}
