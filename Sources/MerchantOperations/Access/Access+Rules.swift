package import MerchantCore
package import Vocabulary

/// A machine that has authenticated at the portal, and what it may do.
package struct AuthenticatedAccess: Hashable, Sendable {
    package let name: AccessName
    package let grant: Grant

    package init(name: AccessName, grant: Grant) {
        self.name = name
        self.grant = grant
    }
}

extension Access {
    /// Whether the access is neither revoked nor expired.
    func isValid(at now: Timestamp) -> Bool { revokedAt == nil && (expiresAt.map { now < $0 } ?? true) }

    /// The merchant, if the access is for one merchant: the audit of that merchant then shows the access.
    var onlyMerchant: MerchantIdentifier? {
        guard let merchants, merchants.count == 1 else { return nil }
        return merchants.first
    }

    /// - Throws: `accessNotFound` if the access is revoked or expired; `malformed` for an access by client
    ///   certificate, which has no token.
    func requireRotatable(at now: Timestamp) throws(MerchantError) {
        if let revokedAt {
            throw MerchantError(
                .accessNotFound, "access \(name) was revoked at \(revokedAt): create an access with another name")
        }
        if let expiresAt, expiresAt <= now {
            throw MerchantError(
                .accessNotFound, "access \(name) expired at \(expiresAt): create an access with another name")
        }
        guard certificateFingerprint == nil else {
            throw MerchantError(
                .malformed,
                "access \(name) is for a client certificate and has no token: for a new certificate, create an access with another name"
            )
        }
    }

    /// How audit records describe the access. Contains no secret.
    var summary: String {
        let permitNames = permits.map(\.rawValue).sorted().joined(separator: ",")
        let merchantNames = merchants.map { $0.map(\.rawValue).sorted().joined(separator: ",") } ?? "*"
        let credential =
            certificateFingerprint.map { "certificate=\(Hex.encode($0.bytes))" }
            ?? "token=\(secrets.first?.title ?? "")"
        let expiry = expiresAt.map { " expiresAt=\($0)" } ?? ""
        return AuditedAccess(self).auditText(
            "permits=\(permitNames) merchants=\(merchantNames) \(credential)\(expiry)")
    }
}

extension AccessSecret {
    func isValid(at now: Timestamp) -> Bool { expiresAt.map { now < $0 } ?? true }

    /// The kind and the identifier of the token, which are not secret.
    var title: String { "\(PortalSecret.Kind.access.rawValue)\(stored.identifier)" }

    /// The same token, but valid at most until `end`.
    ///
    /// - Returns: nil if the token is not valid after `now`.
    func ending(by end: Timestamp, after now: Timestamp) -> AccessSecret? {
        let earlier = expiresAt.map { min($0, end) } ?? end
        guard now < earlier else { return nil }
        return AccessSecret(stored: stored, createdAt: createdAt, expiresAt: earlier)
    }
}

extension AccessReading {
    /// - Throws: `accessNotFound`.
    func existingAccess(_ name: AccessName) throws -> Access {
        guard let access = try access(name) else {
            throw MerchantError(
                .accessNotFound, "there is no access \(name): check the spelling; 'access list' lists the accesses")
        }
        return access
    }
}
