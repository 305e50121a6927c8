package import Vocabulary

extension Paths {
    package static let operatorLogins = "/v1/operator-logins"
    package static let operatorSessions = "/v1/operator-sessions"

    /// The portal's page with which an operator signs in.
    ///
    /// - Parameter secret: the text of the login's secret, which needs no percent-encoding.
    package static func loginPage(_ secret: String) -> String { "/login/\(secret)" }
}

/// The response of `POST /v1/operator-logins`: a link with which the caller can sign in to the portal's pages for
/// operators once.
package struct OperatorLoginDocument: Codable, Hashable, Sendable {
    package let url: String
    package let expiresAt: Timestamp

    package init(url: String, expiresAt: Timestamp) { (self.url, self.expiresAt) = (url, expiresAt) }
}

/// The response of `DELETE /v1/operator-sessions`.
package struct EndedOperatorSessionsDocument: Codable, Hashable, Sendable {
    package let sessionsEnded: Int
    /// The number of ended links that were neither used nor expired.
    package let linksEnded: Int

    package init(sessionsEnded: Int, linksEnded: Int) {
        (self.sessionsEnded, self.linksEnded) = (sessionsEnded, linksEnded)
    }
}
