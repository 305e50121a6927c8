import MerchantCore
import StoreCore
import Vocabulary

extension StoreTransaction {
    func insert(_ session: PortalSession) throws {
        try executeLater(
            "INSERT INTO portal_sessions (\(PortalSessionRow.insertedColumns)) VALUES ($1, $2, $3, $4, $5, $6, $7)",
            PortalSessionRow.values(session, invitationRow: try invitationRow(of: session.holder)))
    }

    /// The id of the invitation's row; nil for a session of an operator.
    private func invitationRow(of holder: PortalSession.Holder) throws -> Int64? {
        guard case .invitation(let identifier, _) = holder else { return nil }
        guard let id = try rowId(of: identifier) else { throw MerchantError.invitationNotFound(identifier) }
        return id
    }

    func update(_ session: PortalSession) throws {
        try executeLater(
            "UPDATE portal_sessions SET last_seen_at = $1 WHERE secret_identifier = $2",
            [session.lastSeenAt, session.secret.identifier])
    }

    func removePortalSession(secretIdentifier: String) throws {
        try executeLater("DELETE FROM portal_sessions WHERE secret_identifier = $1", [secretIdentifier])
    }

    func removePortalSessions(of invitation: InvitationIdentifier) throws -> Int {
        guard let id = try rowId(of: invitation) else { return 0 }
        return try execute(
            "DELETE FROM portal_sessions WHERE invitation_id = $1 AND invitation_id IS NOT NULL", [id])
    }

    func removePortalSessions(ofInvitationsCreatedBy caller: String) throws -> Int {
        try execute(
            """
            DELETE FROM portal_sessions
            WHERE invitation_id IS NOT NULL AND invitation_id IN (SELECT id FROM invitations WHERE created_by = $1)
            """, [caller])
    }

    func removeOperatorSessions(of uid: UInt32?) throws -> Int {
        guard let uid else {
            return try execute("DELETE FROM portal_sessions WHERE operator_uid IS NOT NULL", [])
        }
        return try execute("DELETE FROM portal_sessions WHERE operator_uid = $1 AND operator_uid IS NOT NULL", [uid])
    }
}

// MARK: - Logins of operators

extension StoreTransaction {
    func insert(_ login: OperatorLogin) throws {
        try executeLater(
            "INSERT INTO operator_logins (\(OperatorLoginRow.columns)) VALUES ($1, $2, $3, $4, $5, $6, $7)",
            OperatorLoginRow.values(login))
    }

    func update(_ login: OperatorLogin) throws {
        let changed = try execute(
            "UPDATE operator_logins SET used_at = $1 WHERE secret_identifier = $2",
            [login.usedAt, login.secret.identifier])
        guard changed == 1 else { throw MerchantError.notStored(login) }
    }

    func removeOpenLogins(of uid: UInt32?, at now: Timestamp) throws -> Int {
        // A login that was created before `oldest` has expired. The condition on `created_at` lets PostgreSQL use an
        // index.
        let oldest = now.adding(.zero - OperatorLogin.life)
        return try execute(
            """
            DELETE FROM operator_logins
            WHERE created_at >= $1 AND expires_at > $2 AND used_at IS NULL AND ($3::bigint IS NULL OR operator_uid = $3)
            """, [oldest, now, uid])
    }
}

// MARK: - Removal of expired sessions, and of all sessions

extension StoreTransaction {
    func removeAllSessions() throws -> Int {
        let sessions: Int = try execute("DELETE FROM portal_sessions", [])
        let logins: Int = try execute("DELETE FROM operator_logins", [])
        return sessions + logins
    }

    func removeExpiredSessions(seenBefore lastSeen: Timestamp, createdBefore created: Timestamp, limit: Int) throws
        -> Int
    {
        var remaining = max(0, limit)
        // One statement for each index, because one query cannot read rows in the order of two indexes.
        for (table, column, time) in [
            ("portal_sessions", "last_seen_at", lastSeen), ("portal_sessions", "created_at", created),
            ("operator_logins", "created_at", created),
        ] {
            remaining -= try execute(
                """
                DELETE FROM \(table) WHERE secret_identifier IN (
                    SELECT secret_identifier FROM \(table) WHERE \(column) < $1 ORDER BY \(column) LIMIT $2
                )
                """, [time, remaining])
        }
        return max(0, limit) - remaining
    }
}
