import MerchantCore
import StoreCore
import Vocabulary

extension StoreTransaction {
    func insert(_ session: PortalSession) throws {
        try execute(
            "INSERT INTO portal_sessions (\(PortalSessionRow.insertedColumns)) VALUES (?, ?, ?, ?, ?, ?, ?)",
            PortalSessionRow.values(session, invitationRow: try invitationRow(of: session.holder)))
    }

    /// The id of the invitation's row; nil for a session of an operator.
    private func invitationRow(of holder: PortalSession.Holder) throws -> Int64? {
        guard case .invitation(let identifier, _) = holder else { return nil }
        guard let id = try rowId(of: identifier) else { throw MerchantError.invitationNotFound(identifier) }
        return id
    }

    func update(_ session: PortalSession) throws {
        try execute(
            "UPDATE portal_sessions SET last_seen_at = ? WHERE secret_identifier = ?",
            [session.lastSeenAt, session.secret.identifier])
    }

    func removePortalSession(secretIdentifier: String) throws {
        try execute("DELETE FROM portal_sessions WHERE secret_identifier = ?", [secretIdentifier])
    }

    func removePortalSessions(of invitation: InvitationIdentifier) throws -> Int {
        guard let id = try rowId(of: invitation) else { return 0 }
        return try execute(
            "DELETE FROM portal_sessions WHERE invitation_id = ? AND invitation_id IS NOT NULL", [id])
    }

    func removePortalSessions(ofInvitationsCreatedBy caller: String) throws -> Int {
        try execute(
            """
            DELETE FROM portal_sessions
            WHERE invitation_id IS NOT NULL AND invitation_id IN (SELECT id FROM invitations WHERE created_by = ?)
            """, [caller])
    }

    func removeOperatorSessions(of uid: UInt32?) throws -> Int {
        // The condition `operator_uid >= 0` is true for every operator's session. It lets SQLite search the index of
        // the operators' sessions instead of scanning the index.
        guard let uid else {
            return try execute("DELETE FROM portal_sessions WHERE operator_uid >= 0 AND operator_uid IS NOT NULL", [])
        }
        return try execute("DELETE FROM portal_sessions WHERE operator_uid = ? AND operator_uid IS NOT NULL", [uid])
    }
}

// MARK: - Logins of operators

extension StoreTransaction {
    func insert(_ login: OperatorLogin) throws {
        try execute(
            "INSERT INTO operator_logins (\(OperatorLoginRow.columns)) VALUES (?, ?, ?, ?, ?, ?, ?)",
            OperatorLoginRow.values(login))
    }

    func update(_ login: OperatorLogin) throws {
        let changed = try execute(
            "UPDATE operator_logins SET used_at = ? WHERE secret_identifier = ?",
            [login.usedAt, login.secret.identifier])
        guard changed == 1 else { throw MerchantError.notStored(login) }
    }

    func removeOpenLogins(of uid: UInt32?, at now: Timestamp) throws -> Int {
        // A login that was created before `oldest` has expired. The condition on `created_at` lets SQLite use an index.
        let oldest = now.adding(.zero - OperatorLogin.life)
        return try execute(
            """
            DELETE FROM operator_logins
            WHERE created_at >= ? AND expires_at > ? AND used_at IS NULL AND (? IS NULL OR operator_uid = ?)
            """, [oldest, now, uid, uid])
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
                    SELECT secret_identifier FROM \(table) WHERE \(column) < ? ORDER BY \(column) LIMIT ?
                )
                """, [time, remaining])
        }
        return max(0, limit) - remaining
    }
}
