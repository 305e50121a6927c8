/// Resolves a host's name and refuses internal addresses, so that a name which others control cannot lead the daemon to a
/// service of the private network (server-side request forgery).
///
/// Connect only to an address that this type returned, by ``OutboundClient/Configuration/pinnedAddresses``: the name may
/// resolve to another address shortly afterwards.
package struct HostResolver: Sendable {
    /// For tests and for hosts of the platform's own network.
    package let allowsInternalAddresses: Bool

    package init(allowsInternalAddresses: Bool) { self.allowsInternalAddresses = allowsInternalAddresses }

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
            throw .timedOut
        }
        return try usable(found)
    }

    /// - Returns: the addresses that the daemon may connect to.
    package func usable(_ found: [NetworkAddress]) throws(HostResolutionError) -> [NetworkAddress] {
        guard let first = found.first else { throw .noAddress }
        let usable = found.filter { allowsInternalAddresses || !$0.isInternal }
        guard !usable.isEmpty else { throw .internalAddress(first) }
        return usable
    }
}

package enum HostResolutionError: Error, Hashable, Sendable {
    /// The reason as the system words it.
    case notResolved(String)
    case noAddress
    /// Every address of the name is internal; this is the first.
    case internalAddress(NetworkAddress)
    /// No result in time, or the task was cancelled.
    case timedOut
}
