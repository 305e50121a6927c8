import HTTPTypes
import Vocabulary

/// Checks that a form was sent by a page of the portal, not by a page of another site.
struct FormCheck: Sendable {
    /// The beginning of every link to the portal; nil while the portal does not listen yet.
    let publicURL: @Sendable () -> String?

    /// Whether the browser sent the form from a page of the portal.
    ///
    /// With `Referrer-Policy: no-referrer`, browsers send `Origin: null` even for a form of the same site, and
    /// `Sec-Fetch-Site` then says where the form comes from.
    func isFromPortal(_ headers: HTTPFields) -> Bool {
        let origins = headers[values: .origin]
        guard origins.count == 1, let origin = origins.first else { return false }
        if origin == "null" { return FetchMetadata.isSameOrigin(headers) }
        return origin == publicURL()
    }

    /// Whether the form contains the token of its page.
    ///
    /// - Parameter secret: the secret of the session, or of the link to the page.
    func hasToken(_ form: PageForm, of secret: String) -> Bool {
        guard let token = form["csrf"] else { return false }
        return SessionCookie.isFormToken(token, of: secret)
    }
}
