import Crypto
import HTTPTypes
import MerchantCore
import Vocabulary

/// The cookie that contains the secret of a session.
///
/// The prefix `__Host-` makes browsers accept the cookie only over HTTPS, without a domain, for every path.
enum SessionCookie {
    static let name = "__Host-merchantkeyd"

    /// The value of `Set-Cookie` for a new session. The browser removes the cookie after the longest life of a session.
    /// The server ends an idle session earlier.
    static func newSetCookieValue(_ secret: PortalSecret) -> String {
        "\(name)=\(secret.text); Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=\(PortalSession.longestLife.components.seconds)"
    }

    /// The value of `Set-Cookie` that removes the cookie.
    static let ending = "\(name)=; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0"

    /// The secret in the request's cookie; nil if the request has no such cookie or more than one, or if the secret has
    /// the wrong length.
    static func secret(in headers: HTTPFields) -> String? {
        guard let value = headers.cookie(named: name), value.utf8.count == PortalSecret.length else { return nil }
        return value
    }

    /// The CSRF token for the forms of a page. It is derived from the secret of the session or of the page's link, so
    /// it need not be stored, and another site cannot know it.
    static func formToken(of secret: String) -> String {
        let key = SymmetricKey(data: Array(secret.utf8))
        let code = HMAC<SHA256>.authenticationCode(for: Array("form token".utf8), using: key)
        return Hex.encode(Array(code))
    }

    /// Whether a text is the form token of a secret. The comparison takes constant time.
    static func isFormToken(_ text: String, of secret: String) -> Bool {
        guard let bytes = Hex.decode(text) else { return false }
        let key = SymmetricKey(data: Array(secret.utf8))
        return HMAC<SHA256>.isValidAuthenticationCode(bytes, authenticating: Array("form token".utf8), using: key)
    }
}
