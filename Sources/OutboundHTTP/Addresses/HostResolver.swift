/// Resolves a host's name and refuses internal addresses, so that a name which an untrusted party controls cannot make
/// the daemon connect to a service of the private network (server-side request forgery).
///
/// Connect only to an address that this type returned: put it into ``OutboundClient/Configuration/pinnedAddresses``. If
/// the client resolved the name again, it could get another address, which was not checked.
package struct HostResolver: Sendable {
    /// Whether the daemon may connect to internal addresses: for tests, and for hosts in the daemon's private network.
    package let allowsInternalAddresses: Bool

    package init(allowsInternalAddresses: Bool) { self.allowsInternalAddresses = allowsInternalAddresses }

    /// Resolves the name.
    ///
    /// - Returns: one to eight addresses, in the system's order of preference.
    package func addresses(
        of host: String, within timeout: Duration
    ) async throws(HostResolutionError) -> [NetworkAddress] {
        let found: [NetworkAddress]
        do {
            found = try await NameResolution.addresses(of: host, within: timeout)
        } catch NameResolutionError.notResolved(let reason) {
            throw .notResolved(reason)
        } catch {
            // A timeout, or the cancellation of the task. Callers do not distinguish the two.
            throw .timedOut
        }
        return try usable(found)
    }

    /// - Returns: the addresses of `found` that the daemon may connect to.
    package func usable(_ found: [NetworkAddress]) throws(HostResolutionError) -> [NetworkAddress] {
        guard let first = found.first else { throw .noAddress }
        let usable = found.filter { allowsInternalAddresses || !$0.isInternal }
        guard !usable.isEmpty else { throw .internalAddress(first) }
        return usable
    }
}

/// Why a host's name gave no address that the daemon may connect to.
package enum HostResolutionError: Error, Hashable, Sendable {
    /// The name could not be resolved. The text is the message of `gai_strerror`.
    case notResolved(String)
    /// The name exists, but has no address.
    case noAddress
    /// Every address of the name is internal; the value is the first address.
    case internalAddress(NetworkAddress)
    /// There was no result in time, or the task was cancelled.
    case timedOut
}
