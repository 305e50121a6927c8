/// The rules that every store checks before it writes an access.
extension AccessReading {
    /// - Throws: `accessExists` if an access ever had this name, or if an access that is not revoked has this client
    ///   certificate.
    package func requireNew(_ access: Access) throws {
        if let stored = try self.access(access.name) {
            throw MerchantError(
                .accessExists,
                "access \(access.name) was already created at \(stored.createdAt): choose another name, because a name is used once, even after its access was revoked"
            )
        }
        if let fingerprint = access.certificateFingerprint,
            let other = try self.access(certificateFingerprint: fingerprint)
        {
            throw MerchantError(
                .accessExists,
                "access \(other.name) already has this client certificate: revoke that access first, or use another certificate"
            )
        }
    }
}

extension MerchantError {
    /// For a login that is updated before it was inserted.
    package static func notStored(_ login: OperatorLogin) -> MerchantError {
        MerchantError(
            .internalError,
            "login \(login.secret.identifier) is not stored: it must be inserted before it is updated")
    }
}
