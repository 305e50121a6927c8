package import Vocabulary

/// Reads, in a transaction of the store, the accesses of machines to the portal.
package protocol AccessReading {
    /// Also finds an expired or revoked access.
    func access(_ name: AccessName) throws -> Access?
    /// The access that has a secret with this identifier. Also finds an expired or revoked access.
    func access(secretIdentifier: String) throws -> Access?
    /// The access by this client certificate. Does not find a revoked access; also finds an expired one.
    func access(certificateFingerprint: Bits256) throws -> Access?
    /// All accesses, also expired and revoked ones, sorted by name, starting after `cursor`.
    func accesses(after cursor: AccessName?, limit: Int) throws -> [Access]
}

/// Reads and changes, in a transaction of the store, the accesses of machines to the portal.
package protocol AccessWriting: AccessReading {
    /// - Throws: `accessExists` if an access ever had this name, or if an access that is not revoked has this client
    ///   certificate.
    func insert(_ access: Access) throws
    /// Writes the secrets, and the times of expiry, revocation and last use.
    ///
    /// - Throws: `accessNotFound`; `internalError` if the access is revoked and would become valid or get a new secret.
    func update(_ access: Access) throws
}
