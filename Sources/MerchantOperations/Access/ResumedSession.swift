package import MerchantCore
package import Vocabulary

/// A session at the portal that a request belongs to.
package struct ResumedSession: Hashable, Sendable {
    /// Who is signed in.
    package let holder: PortalSession.Holder
    /// Identifies the session in the daemon. Not secret.
    package let identifier: String
    package let createdAt: Timestamp
    /// When the session ends even if it is used until then. Without requests, it ends earlier: see
    /// ``PortalSession/idleLimit``.
    package let endsAt: Timestamp

    init(_ session: PortalSession) {
        holder = session.holder
        identifier = session.secret.identifier
        createdAt = session.createdAt
        endsAt = session.createdAt.adding(PortalSession.longestLife)
    }

    /// The caller of a request of this session.
    ///
    /// - Parameter address: the client's address.
    package func caller(from address: String) -> RemoteCaller { holder.caller(from: address) }
}

extension PortalSession {
    func caller(from address: String) -> RemoteCaller { holder.caller(from: address) }
}

extension PortalSession.Holder {
    fileprivate func caller(from address: String) -> RemoteCaller {
        switch self {
        case .invitation(let invitation, _): .invitation(invitation, address: address)
        case .operating(let uid, _): .operating(uid: uid, address: address)
        }
    }
}
