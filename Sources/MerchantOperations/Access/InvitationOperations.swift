package import MerchantCore
package import Vocabulary

/// Creates, lists and revokes invitations, with which people at merchants sign in to the portal.
///
/// Only the request that creates an invitation returns the secret of its link, because the daemon stores only a digest.
/// So a repeat of that request with the same Idempotency-Key is refused with `idempotencyKeyReused`.
package struct InvitationOperations: Sendable {
    package typealias Records = Transactions<
        any InvitationReading,
        any InvitationWriting & PortalSessionWriting & AccessReading & MerchantReading & ChangeRecording
    >

    package static let defaultLife = Duration.seconds(7 * 86_400)
    package static let longestLife = Duration.seconds(30 * 86_400)
    /// The largest number of open invitations of one merchant. An invitation is open until it is used, expires or is
    /// revoked. The invitations of all callers count: if a client of the portal has reached the limit, admins cannot
    /// create an invitation for the merchant either, until one is no longer open.
    package static let maximumOpen = 100
    /// The largest number of invitations for one merchant that one client of the portal can create within
    /// ``longestLife``. Without this limit, a client could fill the database by creating and revoking invitations.
    /// Processes on a Unix socket have no such limit.
    package static let maximumRecent = 1000
    private static let pageSize = 200

    private let records: Records
    /// Invitations expire by the later of the confirmed time and the machine's clock, so that a clock that was set back
    /// does not open an expired invitation again.
    private let confirmedTime: ConfirmedTime

    package init(records: Records, confirmedTime: ConfirmedTime) {
        self.records = records
        self.confirmedTime = confirmedTime
    }

    /// Creates an invitation for a person at a merchant.
    ///
    /// - Parameters:
    ///   - expiresAt: nil stands for ``defaultLife`` from now. An invitation that a machine creates with its access
    ///     (see ``Access``) expires at the latest when the access expires.
    ///   - note: for whom the invitation is, 1 to 256 bytes.
    /// - Returns: the invitation and the secret of its link.
    /// - Throws: `malformed`; `merchantNotFound`; `tooManyInvitations`; `idempotencyKeyReused` for a repeat;
    ///   `unauthorized` for an access that was revoked or has expired.
    package func create(
        for merchant: MerchantIdentifier, expiresAt: Timestamp?, note: String?, for request: Request
    ) async throws -> (invitation: Invitation, secret: PortalSecret) {
        let time = confirmedTime.reading()
        let now = time.latest
        let expiresAt = expiresAt ?? now.adding(Self.defaultLife)
        let latest = now.adding(Self.longestLife)
        guard now < expiresAt, expiresAt <= latest else {
            throw MerchantError(
                .malformed, "'expiresAt' is \(expiresAt), expected a time after \(now) and not after \(latest)")
        }
        if let note { _ = try DisplayText(note, named: "note", longest: Invitation.longestNote) }
        let secret = PortalSecret(generating: .invitation)
        let invitation: Invitation = try await records.write { transaction in
            if let earlier = try request.idempotency.earlierResource(in: transaction) {
                throw MerchantError(
                    .idempotencyKeyReused,
                    "an earlier request with this Idempotency-Key created invitation \(earlier), and its link is shown only once: revoke that invitation, and create another with a new Idempotency-Key"
                )
            }
            _ = try transaction.existingMerchant(merchant)
            try Self.checkLimits(of: merchant, for: request.caller, at: now, in: transaction)
            let invitation = Invitation(
                identifier: .random(), merchantIdentifier: merchant, secret: secret.stored, note: note,
                createdBy: request.caller.name, createdAt: now,
                expiresAt: try Self.expiration(
                    requested: expiresAt, for: request.caller, at: now, in: transaction))
            try transaction.insert(invitation)
            try transaction.append(
                request.auditEntry(
                    .invitationCreated, at: time.wall, merchant: merchant,
                    after: "invitation=\(invitation.identifier) expiresAt=\(invitation.expiresAt)", reason: note))
            try request.idempotency.remember(invitation.identifier.rawValue, at: time, in: transaction)
            return invitation
        }
        return (invitation, secret)
    }

    /// Invitations of one merchant or, with nil, of all merchants, newest first, starting after `cursor`, at most
    /// `limit`.
    package func list(
        of merchant: MerchantIdentifier?, after cursor: InvitationIdentifier?, limit: Int
    ) async throws -> [Invitation] {
        try await records.read { try $0.invitations(of: merchant, after: cursor, limit: limit) }
    }

    /// An invitation. Also returns an invitation that was used, has expired or was revoked.
    ///
    /// - Throws: `invitationNotFound`.
    package func invitation(_ identifier: InvitationIdentifier) async throws -> Invitation {
        try await records.read { try $0.existingInvitation(identifier) }
    }

    /// The state of an invitation now. Does not check whether the merchant was removed.
    package func state(of invitation: Invitation) -> InvitationState {
        invitation.state(at: confirmedTime.reading().latest)
    }

    /// Revokes an invitation: its link can no longer be used to sign in, and the session that began with the link ends
    /// now. A repeat changes nothing.
    ///
    /// - Throws: `invitationNotFound`.
    package func revoke(_ identifier: InvitationIdentifier, for request: Request) async throws -> Invitation {
        let time = confirmedTime.reading()
        return try await records.write { transaction in
            var invitation = try transaction.existingInvitation(identifier)
            guard invitation.revokedAt == nil else { return invitation }
            invitation.revokedAt = time.latest
            try transaction.update(invitation)
            let sessions = try transaction.removePortalSessions(of: identifier)
            try transaction.append(
                request.auditEntry(
                    .invitationRevoked, at: time.wall, merchant: invitation.merchantIdentifier,
                    before: "invitation=\(identifier) expiresAt=\(invitation.expiresAt)",
                    after: "sessions ended: \(sessions)"))
            return invitation
        }
    }

    /// When an invitation that the caller creates expires: at `requested`, or when the caller's access expires if that
    /// is earlier. Otherwise a machine could use the invitation after its access has expired.
    ///
    /// - Throws: `unauthorized` if the access was revoked or expired after the request was authenticated.
    private static func expiration(
        requested: Timestamp, for caller: Caller, at now: Timestamp, in reading: any AccessReading
    ) throws -> Timestamp {
        guard let name = caller.remote?.accessName else { return requested }
        guard let access = try reading.access(name), access.isValid(at: now) else {
            throw MerchantError(
                .unauthorized,
                "access \(name) was revoked or has expired, so it cannot create invitations: ask an admin for another access"
            )
        }
        guard let latest = access.expiresAt else { return requested }
        return min(requested, latest)
    }

    /// Checks that the merchant may have one more invitation, and that the caller may create it.
    ///
    /// - Throws: `tooManyInvitations`.
    private static func checkLimits(
        of merchant: MerchantIdentifier, for caller: Caller, at now: Timestamp, in reading: any InvitationReading
    ) throws {
        let remote: String? = caller.remote?.name
        let oldest = now.adding(.zero - longestLife)
        var (open, recent) = (0, 0)
        var cursor: InvitationIdentifier?
        while open < maximumOpen, recent < maximumRecent {
            let page = try reading.invitations(of: merchant, after: cursor, limit: pageSize)
            // An invitation that was created before `oldest` has expired, and so have those after it in the list.
            let young = page.prefix { $0.createdAt > oldest }
            open += young.count { $0.isOpen(at: now) }
            if let remote { recent += young.count { $0.createdBy == remote } }
            guard young.count == pageSize else { break }
            cursor = page.last?.identifier
        }
        guard open < maximumOpen else {
            throw MerchantError(
                .tooManyInvitations,
                "\(merchant) has \(open) open invitations, the limit is \(maximumOpen): revoke some, or wait until they are used or expire"
            )
        }
        guard recent < maximumRecent else {
            throw MerchantError(
                .tooManyInvitations,
                "\(caller.name) created \(recent) invitations for \(merchant) within \(longestLife.components.seconds / 86_400) days, the limit is \(maximumRecent): wait until some of these are older"
            )
        }
    }
}
