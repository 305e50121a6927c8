package import Vocabulary

/// Reads, in a transaction of the store, the invitations to the portal.
package protocol InvitationReading {
    /// Also finds a used, expired or revoked invitation.
    func invitation(_ identifier: InvitationIdentifier) throws -> Invitation?
    /// The invitation whose secret has this identifier. Also finds a used, expired or revoked invitation.
    func invitation(secretIdentifier: String) throws -> Invitation?
    /// Invitations of one merchant or, with nil, of all merchants; also used, expired and revoked ones. Newest first.
    /// Starts after `cursor`, or with the newest invitation if `cursor` is nil or names no invitation.
    func invitations(
        of merchant: MerchantIdentifier?, after cursor: InvitationIdentifier?, limit: Int
    ) throws -> [Invitation]
}

/// Reads and changes, in a transaction of the store, the invitations to the portal.
package protocol InvitationWriting: InvitationReading {
    /// - Throws: `merchantNotFound`.
    func insert(_ invitation: Invitation) throws
    /// Writes the times of use and revocation.
    ///
    /// - Throws: `invitationNotFound`; `internalError` if the update would use an invitation that is used, expired or
    ///   revoked, or would remove the time of its use or revocation.
    func update(_ invitation: Invitation) throws
    /// Revokes every invitation of a creator that is not used, expired or revoked.
    ///
    /// - Parameter caller: the creator's name, such as `access:NAME`.
    /// - Returns: the number of invitations that were revoked.
    func revokeOpenInvitations(createdBy caller: String, at now: Timestamp) throws -> Int
}
