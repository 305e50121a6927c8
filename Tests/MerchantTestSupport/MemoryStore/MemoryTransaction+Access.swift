package import MerchantCore
package import Vocabulary

/// The accesses, invitations, sessions and logins of ``MemoryRepository``.
struct MemoryPortal: Sendable {
    var accesses: [AccessName: Access] = [:]
    /// Oldest first.
    var invitations: [Invitation] = []
    /// By the identifier of the secret, as ``logins``.
    var sessions: [String: PortalSession] = [:]
    var logins: [String: OperatorLogin] = [:]
}

extension MemoryTransaction {
    package func access(_ name: AccessName) -> Access? { state.portal.accesses[name] }

    package func access(secretIdentifier: String) -> Access? {
        state.portal.accesses.values.first { access in
            access.secrets.contains { $0.stored.identifier == secretIdentifier }
        }
    }

    package func access(certificateFingerprint: Bits256) -> Access? {
        state.portal.accesses.values.first {
            $0.certificateFingerprint == certificateFingerprint && $0.revokedAt == nil
        }
    }

    package func accesses(after cursor: AccessName?, limit: Int) -> [Access] {
        Array(
            state.portal.accesses.values.filter { access in cursor.map { $0 < access.name } ?? true }
                .sorted { $0.name < $1.name }.prefix(limit))
    }

    package func insert(_ access: Access) throws {
        let sameCertificate = access.certificateFingerprint.flatMap { self.access(certificateFingerprint: $0) }
        guard self.access(access.name) == nil, sameCertificate == nil else {
            throw MerchantError(.accessExists, "access \(access.name) or its certificate exists")
        }
        state.portal.accesses[access.name] = access
    }

    package func update(_ access: Access) throws {
        guard var stored = self.access(access.name) else {
            throw MerchantError(.accessNotFound, "there is no access \(access.name)")
        }
        let known = Set(stored.secrets.map(\.stored))
        let staysRevoked =
            access.revokedAt == stored.revokedAt && access.secrets.allSatisfy { known.contains($0.stored) }
        guard stored.revokedAt == nil || staysRevoked, access.secrets.count <= Access.maximumSecrets else {
            throw MerchantError(.internalError, "access \(access.name) is revoked or has too many secrets")
        }
        stored.secrets = access.secrets
        stored.expiresAt = access.expiresAt
        stored.revokedAt = access.revokedAt
        stored.lastUsedAt = access.lastUsedAt
        state.portal.accesses[access.name] = stored
    }
}

// MARK: - Invitations

extension MemoryTransaction {
    package func invitation(_ identifier: InvitationIdentifier) -> Invitation? {
        state.portal.invitations.first { $0.identifier == identifier }
    }

    package func invitation(secretIdentifier: String) -> Invitation? {
        state.portal.invitations.first { $0.secret.identifier == secretIdentifier }
    }

    package func invitations(
        of merchant: MerchantIdentifier?, after cursor: InvitationIdentifier?, limit: Int
    ) -> [Invitation] {
        let all = state.portal.invitations
        let end = cursor.flatMap { last in all.firstIndex { $0.identifier == last } } ?? all.count
        return Array(
            all[..<end].reversed().filter { invitation in
                merchant.map { $0 == invitation.merchantIdentifier } ?? true
            }.prefix(limit))
    }

    package func insert(_ invitation: Invitation) throws {
        guard merchant(invitation.merchantIdentifier) != nil else {
            throw MerchantError.merchantNotFound(invitation.merchantIdentifier)
        }
        state.portal.invitations.append(invitation)
    }

    package func update(_ invitation: Invitation) throws {
        guard let index = state.portal.invitations.firstIndex(where: { $0.identifier == invitation.identifier }) else {
            throw MerchantError(.invitationNotFound, "there is no invitation \(invitation.identifier)")
        }
        let stored = state.portal.invitations[index]
        let mayBeUsed = stored.usedAt == nil && stored.revokedAt == nil
        let isInTime = invitation.usedAt.map { $0 <= stored.expiresAt } ?? true
        guard invitation.usedAt == stored.usedAt || mayBeUsed && isInTime,
            stored.revokedAt == nil || invitation.revokedAt == stored.revokedAt
        else {
            throw MerchantError(.internalError, "invitation \(invitation.identifier) is used, expired or revoked")
        }
        state.portal.invitations[index].usedAt = invitation.usedAt
        state.portal.invitations[index].revokedAt = invitation.revokedAt
    }

    package func revokeOpenInvitations(createdBy caller: String, at now: Timestamp) -> Int {
        var revoked = 0
        for index in state.portal.invitations.indices {
            let invitation = state.portal.invitations[index]
            guard invitation.createdBy == caller, now < invitation.expiresAt, invitation.usedAt == nil,
                invitation.revokedAt == nil
            else { continue }
            state.portal.invitations[index].revokedAt = now
            revoked += 1
        }
        return revoked
    }
}

// MARK: - Sessions and logins

extension MemoryTransaction {
    package func portalSession(secretIdentifier: String) -> PortalSession? {
        state.portal.sessions[secretIdentifier]
    }

    package func operatorLogin(secretIdentifier: String) -> OperatorLogin? { state.portal.logins[secretIdentifier] }

    package func insert(_ session: PortalSession) throws {
        if case .invitation(let identifier, _) = session.holder {
            guard let invitation = invitation(identifier) else {
                throw MerchantError(.invitationNotFound, "there is no invitation \(identifier)")
            }
            guard invitation.revokedAt == nil, sessions(of: identifier).isEmpty else {
                throw MerchantError(.internalError, "invitation \(identifier) is revoked or has a session")
            }
        }
        state.portal.sessions[session.secret.identifier] = session
    }

    package func update(_ session: PortalSession) {
        state.portal.sessions[session.secret.identifier]?.lastSeenAt = session.lastSeenAt
    }

    package func removePortalSession(secretIdentifier: String) {
        state.portal.sessions[secretIdentifier] = nil
    }

    package func removePortalSessions(of invitation: InvitationIdentifier) -> Int {
        remove(sessions(of: invitation))
    }

    package func removePortalSessions(ofInvitationsCreatedBy caller: String) -> Int {
        let created = state.portal.invitations.filter { $0.createdBy == caller }
        return created.reduce(0) { $0 + removePortalSessions(of: $1.identifier) }
    }

    package func removeOperatorSessions(of uid: UInt32?) -> Int {
        remove(
            state.portal.sessions.values.filter { session in
                if case .operating(let holder, _) = session.holder { uid == nil || holder == uid } else { false }
            })
    }

    private func sessions(of identifier: InvitationIdentifier) -> [PortalSession] {
        state.portal.sessions.values.filter { session in
            if case .invitation(let holder, _) = session.holder { holder == identifier } else { false }
        }
    }

    private func remove(_ sessions: [PortalSession]) -> Int {
        for session in sessions { state.portal.sessions[session.secret.identifier] = nil }
        return sessions.count
    }

    package func insert(_ login: OperatorLogin) throws {
        state.portal.logins[login.secret.identifier] = login
    }

    package func update(_ login: OperatorLogin) throws {
        guard let stored = operatorLogin(secretIdentifier: login.secret.identifier),
            login.usedAt == stored.usedAt || stored.usedAt == nil,
            login.usedAt.map({ $0 <= stored.expiresAt }) ?? true
        else {
            throw MerchantError(.internalError, "login \(login.secret.identifier) is not stored, used or expired")
        }
        state.portal.logins[login.secret.identifier]?.usedAt = login.usedAt
    }

    package func removeOpenLogins(of uid: UInt32?, at now: Timestamp) -> Int {
        let open = state.portal.logins.filter { _, login in
            login.usedAt == nil && now < login.expiresAt && (uid == nil || login.uid == uid)
        }
        for identifier in open.keys { state.portal.logins[identifier] = nil }
        return open.count
    }

    package func removeExpiredSessions(
        seenBefore lastSeen: Timestamp, createdBefore created: Timestamp, limit: Int
    ) -> Int {
        let sessions = state.portal.sessions.values.filter { $0.lastSeenAt < lastSeen || $0.createdAt < created }
        let removed = remove(Array(sessions.prefix(limit)))
        let logins = state.portal.logins.values.filter { $0.createdAt < created }.prefix(limit - removed)
        for login in logins { state.portal.logins[login.secret.identifier] = nil }
        return removed + logins.count
    }

    package func removeAllSessions() -> Int {
        let count = state.portal.sessions.count + state.portal.logins.count
        state.portal.sessions = [:]
        state.portal.logins = [:]
        return count
    }
}
