import MerchantCore
import Vocabulary

/// What ``PortalSessionOperations/endOperatorSessions(of:for:)`` has ended.
package struct EndedOperatorSessions: Hashable, Sendable {
    /// The number of sessions.
    package let sessions: Int
    /// The number of unused logins that had not expired.
    package let logins: Int
}

extension PortalSessionOperations {
    /// The largest number of sessions and logins that one transaction removes.
    private static let removalsPerTransaction = 500

    /// Signs out. Does nothing if the session is unknown.
    package func end(_ text: String) async throws {
        guard let secret = PortalSecret(text: text, kind: .session) else { return }
        let identifier = secret.identifier
        try await records.write { transaction in
            guard let session = try transaction.portalSession(secretIdentifier: identifier),
                session.secret.matches(secret)
            else { return }
            try transaction.removePortalSession(secretIdentifier: identifier)
        }
    }

    /// Ends the sessions of an operator at once. The operator's unused logins end too, so that a link that was printed
    /// earlier cannot begin a session.
    ///
    /// - Parameter uid: nil for every operator.
    package func endOperatorSessions(of uid: UInt32?, for request: Request) async throws -> EndedOperatorSessions {
        let time = confirmedTime.reading()
        return try await records.write { transaction in
            let ended = EndedOperatorSessions(
                sessions: try transaction.removeOperatorSessions(of: uid),
                logins: try transaction.removeOpenLogins(of: uid, at: time.latest))
            try transaction.append(
                request.auditEntry(
                    .operatorSessionsEnded, at: time.wall, before: "operator=\(uid.map { "\($0)" } ?? "*")",
                    after: "sessions ended: \(ended.sessions), logins ended: \(ended.logins)"))
            return ended
        }
    }

    /// Removes the sessions that have expired, and the logins that were created more than ``PortalSession/longestLife``
    /// ago, in small transactions, so that other writes need not wait long.
    ///
    /// - Returns: the number of removed sessions and logins.
    @discardableResult
    package func removeExpired() async throws -> Int {
        let now = confirmedTime.reading().latest
        let lastSeen = now.adding(.zero - PortalSession.idleLimit)
        let created = now.adding(.zero - PortalSession.longestLife)
        var total = 0
        while true {
            try Task.checkCancellation()
            let count = try await records.write {
                try $0.removeExpiredSessions(
                    seenBefore: lastSeen, createdBefore: created, limit: Self.removalsPerTransaction)
            }
            total += count
            guard count == Self.removalsPerTransaction else { return total }
        }
    }
}
