package import Vocabulary

/// Reads, in a transaction of the store, the sessions at the portal and the logins of operators.
package protocol PortalSessionReading {
    /// The session whose secret has this identifier. Also finds a session that is no longer valid, unless it was
    /// removed.
    func portalSession(secretIdentifier: String) throws -> PortalSession?
    /// The login whose secret has this identifier. Also finds a used or expired login, unless it was removed.
    func operatorLogin(secretIdentifier: String) throws -> OperatorLogin?
}

/// Reads and changes, in a transaction of the store, the sessions at the portal and the logins of operators.
package protocol PortalSessionWriting: PortalSessionReading {
    /// - Throws: `invitationNotFound`; `internalError` if the session's invitation is revoked or already has a session.
    func insert(_ session: PortalSession) throws
    /// Writes the time of the last request. Does nothing if the session was removed.
    func update(_ session: PortalSession) throws
    /// Ends a session. Does nothing if there is no session with this secret.
    func removePortalSession(secretIdentifier: String) throws
    /// Ends the session of an invitation.
    ///
    /// - Returns: the number of removed sessions.
    func removePortalSessions(of invitation: InvitationIdentifier) throws -> Int
    /// Ends the sessions of all invitations of a creator.
    ///
    /// - Parameter caller: the creator's name, such as `access:NAME`.
    /// - Returns: the number of removed sessions.
    func removePortalSessions(ofInvitationsCreatedBy caller: String) throws -> Int
    /// Ends the sessions of an operator.
    ///
    /// - Parameter uid: nil for every operator.
    /// - Returns: the number of removed sessions.
    func removeOperatorSessions(of uid: UInt32?) throws -> Int
    func insert(_ login: OperatorLogin) throws
    /// Writes the time of use.
    ///
    /// - Throws: `internalError` if the login was removed, or if the update would use a login that is used or expired,
    ///   or would remove the time of its use.
    func update(_ login: OperatorLogin) throws
    /// Removes the logins that could still begin a session at `now`: those that are neither used nor expired.
    ///
    /// - Parameter uid: nil for the logins of every operator.
    /// - Returns: the number of removed logins.
    func removeOpenLogins(of uid: UInt32?, at now: Timestamp) throws -> Int
    /// Removes sessions whose last request was before `lastSeen` or that were created before `created`, and logins that
    /// were created before `created`.
    ///
    /// - Returns: the number of removed sessions and logins, at most `limit`.
    func removeExpiredSessions(seenBefore lastSeen: Timestamp, createdBefore created: Timestamp, limit: Int) throws
        -> Int
    /// Ends every session, and removes every login.
    ///
    /// - Returns: the number of removed sessions and logins.
    func removeAllSessions() throws -> Int
}
