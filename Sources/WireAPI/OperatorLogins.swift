package import Vocabulary

extension Paths {
    package static let operatorLogins = "/v1/operator-logins"

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
