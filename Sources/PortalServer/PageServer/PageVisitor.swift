import HTTPTypes
import MerchantCore
import MerchantOperations
import RESTKit
import ServerKit
import Vocabulary

/// Who requests a page, and the secret from which the token of the page's forms is derived.
struct PageVisitor: Sendable {
    let identity: PortalAuthentication.Identity
    /// The secret in the session's cookie; nil without a session.
    let sessionSecret: String?
    /// The secret in the path of an invitation or a login; nil for other paths.
    var linkSecret: String?

    /// The secret from which the tokens of the page's forms are derived: the secret of the link, or without a link the
    /// secret of the session. The secret of the link comes first, because when a person follows a link from a mail, the
    /// browser does not send the session's cookie, but sends the cookie later with the form of that page.
    var secret: String? { linkSecret ?? sessionSecret }
    /// The secrets from which the token of a submitted form may be derived.
    var secrets: [String] { [linkSecret, sessionSecret].compactMap(\.self) }

    /// Whether the visitor may use a route.
    func isAdmitted(to audience: PageRoute.Audience) -> Bool {
        switch (audience, identity.session?.holder) {
        case (.everyone, _), (.merchant, .invitation?): true
        // The session has the operator's current permits. If the setting `callers` no longer gives a permit, the
        // session loses this permit.
        case (.operators, .operating?): identity.peer.grants.allowsEveryMerchant(.read)
        case (.merchant, _), (.operators, _): false
        }
    }

    /// The page for a visitor who may not use a route. The audit records the refusal of a visitor with a session.
    func refusal(of route: PageRoute, requestId: String) -> any HTMLPage {
        guard identity.session == nil else {
            identity.peer.recordRefusal(route.audience == .operators ? .read : .onboard)
            return ErrorPage(.forbidden, requestId: requestId)
        }
        let isForOperators = route.audience == .operators
        guard route.method != .get else { return SessionEndedPage(after: .page, isForOperators: isForOperators) }
        return SessionEndedPage(
            after: route.path == PortalPaths.certificates ? .upload : .form, isForOperators: isForOperators)
    }
}
