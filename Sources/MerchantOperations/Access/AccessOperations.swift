package import MerchantCore
package import Vocabulary

/// Creates, lists, rotates and revokes the accesses of machines to the portal, and authenticates the machines.
///
/// Only the request that creates a token returns the token, because the daemon stores only a digest of the token. So a
/// repeat of that request with the same Idempotency-Key cannot return the same result. The repeat is refused with
/// `idempotencyKeyReused`, and the error's detail says how to get another token.
package struct AccessOperations: Sendable {
    package typealias Records = Transactions<
        any AccessReading,
        any AccessWriting & InvitationWriting & PortalSessionWriting & MerchantReading & ChangeRecording
    >

    /// The largest number of merchants that an access can name. For more merchants, create several accesses, or one for
    /// every merchant.
    package static let maximumMerchants = 100
    /// How long the older token stays valid after a rotation, unless the request says otherwise.
    package static let defaultOverlap = Duration.seconds(86_400)
    package static let longestOverlap = Duration.seconds(30 * 86_400)

    private let records: Records
    private let readClientCertificate: @Sendable ([UInt8]) throws -> Bits256
    /// Tokens expire by the later of the confirmed time and the machine's clock, so that a clock that was set back does
    /// not make an expired token valid again.
    private let confirmedTime: ConfirmedTime
    private let throttle = UseThrottle()

    /// - Parameter readClientCertificate: ``KeyCustodian/fingerprint(ofClientCertificate:)``.
    package init(
        records: Records, readClientCertificate: @escaping @Sendable ([UInt8]) throws -> Bits256,
        confirmedTime: ConfirmedTime
    ) {
        self.records = records
        self.readClientCertificate = readClientCertificate
        self.confirmedTime = confirmedTime
    }

    /// Creates an access by token or by client certificate.
    ///
    /// - Parameters:
    ///   - permits: one or more of ``PortalPermits/permitted``.
    ///   - merchants: the merchants that the permits apply to, 1 to ``maximumMerchants``; nil for every merchant, also
    ///     for merchants that are added later.
    ///   - expiresAt: nil for an access that does not expire.
    ///   - clientCertificate: the client certificate in PEM or DER; nil for an access by token.
    /// - Returns: the access and its token; nil instead of the token for an access by client certificate.
    /// - Throws: `malformed`; `privateKeyUploaded`; `merchantNotFound`; `accessExists` if an access ever had this name,
    ///   or if an access that is not revoked has this client certificate; `idempotencyKeyReused` for a repeat that
    ///   would have to return a token.
    package func create(
        _ name: AccessName, permits: Set<Permit>, merchants: Set<MerchantIdentifier>?, expiresAt: Timestamp?,
        clientCertificate: [UInt8]?, for request: Request
    ) async throws -> (access: Access, token: PortalSecret?) {
        let certificateFingerprint = try clientCertificate.map(fingerprint(ofClientCertificate:))
        let time = confirmedTime.reading()
        let now = time.latest
        try Self.check(permits: permits, merchants: merchants, expiresAt: expiresAt, at: now)
        let token: PortalSecret? = certificateFingerprint == nil ? PortalSecret(generating: .access) : nil
        let secrets = token.map { [AccessSecret(stored: $0.stored, createdAt: now, expiresAt: nil)] } ?? []
        let new = Access(
            name: name, permits: permits, merchants: merchants, secrets: secrets,
            certificateFingerprint: certificateFingerprint, createdAt: now, expiresAt: expiresAt)
        let access: Access = try await records.write { transaction in
            if try request.idempotency.earlierResource(in: transaction) != nil {
                let earlier = try transaction.existingAccess(name)
                guard earlier.certificateFingerprint != nil else { throw Self.tokenNotShownAgain(name) }
                return earlier
            }
            for merchant in (merchants ?? []).sorted() { _ = try transaction.existingMerchant(merchant) }
            try transaction.insert(new)
            try transaction.append(
                request.auditEntry(
                    .accessCreated, at: time.wall, merchant: new.onlyMerchant, after: new.summary))
            try request.idempotency.remember(name.rawValue, at: time, in: transaction)
            return new
        }
        return (access, token)
    }

    /// All accesses, including expired and revoked ones, sorted by name, starting after `cursor`, at most `limit`.
    package func list(after cursor: AccessName?, limit: Int) async throws -> [Access] {
        try await records.read { try $0.accesses(after: cursor, limit: limit) }
    }

    /// An access, even if it has expired or was revoked.
    ///
    /// - Throws: `accessNotFound`.
    package func access(_ name: AccessName) async throws -> Access {
        try await records.read { try $0.existingAccess(name) }
    }

    /// Gives an access a new token. The previous token stays valid for the overlap, or until it expires if that is
    /// earlier. A token from before the previous rotation expires now.
    ///
    /// - Parameter overlap: zero to ``longestOverlap``. With zero, the previous token expires now.
    /// - Throws: `accessNotFound`, also for an expired or revoked access; `malformed` for an access by client
    ///   certificate, or for an overlap out of range; `idempotencyKeyReused` for a repeat.
    package func rotate(
        _ name: AccessName, overlap: Duration = AccessOperations.defaultOverlap, for request: Request
    ) async throws -> (access: Access, token: PortalSecret) {
        guard overlap >= .zero, overlap <= Self.longestOverlap else {
            throw MerchantError(
                .malformed,
                "'overlapSeconds' is \(overlap.components.seconds), expected 0 to \(Self.longestOverlap.components.seconds)"
            )
        }
        let time = confirmedTime.reading()
        let now = time.latest
        let token = PortalSecret(generating: .access)
        let new = AccessSecret(stored: token.stored, createdAt: now, expiresAt: nil)
        let access: Access = try await records.write { transaction in
            guard try request.idempotency.earlierResource(in: transaction) == nil else {
                throw Self.tokenNotShownAgain(name)
            }
            var access = try transaction.existingAccess(name)
            try access.requireRotatable(at: now)
            let older = access.secrets.first.flatMap { $0.ending(by: now.adding(overlap), after: now) }
            access.secrets = [new] + [older].compactMap(\.self)
            try transaction.update(access)
            try transaction.append(
                request.auditEntry(
                    .accessRotated, at: time.wall, merchant: access.onlyMerchant,
                    before: older.map { "\($0.title) until \($0.expiresAt ?? now)" }, after: access.summary))
            try request.idempotency.remember(name.rawValue, at: time, in: transaction)
            return access
        }
        return (access, token)
    }

    /// Revokes an access permanently: from now on, the daemon refuses its tokens and its client certificate. A repeat
    /// changes nothing.
    ///
    /// Also revokes the open invitations that the access created, and ends all sessions that began with an invitation
    /// of the access. Otherwise someone who stole the token could act for the merchants after the revocation.
    ///
    /// - Throws: `accessNotFound`.
    package func revoke(_ name: AccessName, for request: Request) async throws -> Access {
        let time = confirmedTime.reading()
        return try await records.write { transaction in
            var access = try transaction.existingAccess(name)
            guard access.revokedAt == nil else { return access }
            let before = access.summary
            access.revokedAt = time.latest
            try transaction.update(access)
            let creator = RemoteCaller.name(ofAccess: name)
            let invitations = try transaction.revokeOpenInvitations(createdBy: creator, at: time.latest)
            let sessions = try transaction.removePortalSessions(ofInvitationsCreatedBy: creator)
            try transaction.append(
                request.auditEntry(
                    .accessRevoked, at: time.wall, merchant: access.onlyMerchant, before: before,
                    after: AuditedAccess(access).auditText(
                        "invitations revoked: \(invitations), sessions ended: \(sessions)")))
            return access
        }
    }

    /// Authenticates a machine by its access token.
    ///
    /// - Returns: nil if the token is not valid. The result does not show why.
    package func authenticate(token text: String) async throws -> AuthenticatedAccess? {
        guard let token = PortalSecret(text: text, kind: .access) else { return nil }
        let now = confirmedTime.reading().latest
        let identifier = token.identifier
        guard let access = try await records.read({ try $0.access(secretIdentifier: identifier) }),
            let secret = access.secrets.first(where: { $0.stored.matches(token) }), secret.isValid(at: now)
        else { return nil }
        return await admit(access, at: now)
    }

    /// Authenticates a machine by its client certificate.
    ///
    /// - Parameter certificateFingerprint: SHA-256 of the certificate in DER. The caller must have verified that the
    ///   machine has the certificate's private key.
    /// - Returns: nil if no valid access has this certificate.
    package func authenticate(certificateFingerprint: Bits256) async throws -> AuthenticatedAccess? {
        let now = confirmedTime.reading().latest
        guard
            let access = try await records.read({
                try $0.access(certificateFingerprint: certificateFingerprint)
            })
        else { return nil }
        return await admit(access, at: now)
    }

    private func admit(_ access: Access, at now: Timestamp) async -> AuthenticatedAccess? {
        guard access.isValid(at: now) else { return nil }
        await recordUse(of: access, at: now)
        return AuthenticatedAccess(
            name: access.name, grant: Grant(permits: access.permits, merchants: access.merchants))
    }

    /// Stores the time of use, unless a time was stored within ``UseThrottle/interval``. Ignores a failure, so that
    /// machines can authenticate while the database cannot be written.
    private func recordUse(of access: Access, at now: Timestamp) async {
        guard UseThrottle.isDue(access.lastUsedAt, at: now), throttle.claim(access.name.rawValue, at: now) else {
            return
        }
        let name = access.name
        try? await records.write { transaction in
            guard var stored = try transaction.access(name), UseThrottle.isDue(stored.lastUsedAt, at: now) else {
                return
            }
            stored.lastUsedAt = now
            try transaction.update(stored)
        }
    }

    /// - Throws: `malformed` or `privateKeyUploaded`. This method replaces the custodian's messages, because they are
    ///   about certificates from Apple.
    private func fingerprint(ofClientCertificate certificate: [UInt8]) throws -> Bits256 {
        do {
            return try readClientCertificate(certificate)
        } catch let error as MerchantError where error.code == .privateKeyUploaded {
            throw MerchantError(
                .privateKeyUploaded,
                "'clientCertificate' contains a private key: treat this key as exposed, and send only the certificate")
        } catch is MerchantError {
            throw MerchantError(
                .malformed,
                "'clientCertificate' is not one X.509 certificate in PEM; send the text from -----BEGIN CERTIFICATE----- to -----END CERTIFICATE-----"
            )
        }
    }

    private static func check(
        permits: Set<Permit>, merchants: Set<MerchantIdentifier>?, expiresAt: Timestamp?, at now: Timestamp
    ) throws(MerchantError) {
        guard !permits.isEmpty, permits.isSubset(of: PortalPermits.permitted) else {
            let found = permits.isEmpty ? "empty" : permits.map { "'\($0.rawValue)'" }.sorted().joined(separator: ", ")
            let expected = PortalPermits.permitted.map { "'\($0.rawValue)'" }.sorted().joined(separator: ", ")
            throw MerchantError(.malformed, "'permits' is \(found), expected one or more of \(expected)")
        }
        if let merchants, !(1...maximumMerchants).contains(merchants.count) {
            throw MerchantError(
                .malformed,
                "'merchants' has \(merchants.count.counted("identifier")), expected 1 to \(maximumMerchants): for more, create several accesses, or one for all merchants"
            )
        }
        if let expiresAt, expiresAt <= now {
            throw MerchantError(.malformed, "'expiresAt' is \(expiresAt), expected a time after \(now)")
        }
    }

    private static func tokenNotShownAgain(_ name: AccessName) -> MerchantError {
        MerchantError(
            .idempotencyKeyReused,
            "an earlier request with this Idempotency-Key created a token of access \(name), and the token is shown only once: to get another token, rotate the access with a new Idempotency-Key"
        )
    }
}
