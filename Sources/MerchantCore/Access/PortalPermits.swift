/// The permits that callers of the portal can have.
package enum PortalPermits {
    /// The permits that an access can have. The schema of the database accepts no others.
    package static let permitted: Set<Permit> = [.onboard, .read, .merchantSession]
}
