package import Vocabulary

/// The information about the request that a page needs in addition to its own values.
package struct PageContext: Sendable {
    package enum Visitor: Hashable, Sendable {
        /// Without a session.
        case signedOut
        /// A person at a merchant.
        case merchant(MerchantIdentifier, name: String?)
        /// An operator; the associated value is the caller's name.
        case operating(String)
    }

    let visitor: Visitor
    let csrf: String?
    let signOutToken: String?
    let idempotencyKey: String
    let environment: Environment
    let now: Timestamp

    /// - Parameters:
    ///   - csrf: the CSRF token for the forms of the page; nil if the page has no form.
    ///   - signOutToken: the CSRF token for the form to sign out, which is derived from the session. On the page of a
    ///     link, the other forms have a token that is derived from the link. nil means the same token as `csrf`.
    ///   - idempotencyKey: the value of the field `idempotencyKey` in the forms of the page.
    package init(
        visitor: Visitor, csrf: String?, signOutToken: String? = nil, environment: Environment, now: Timestamp,
        idempotencyKey: String = PageContext.newIdempotencyKey()
    ) {
        self.visitor = visitor
        self.csrf = csrf
        self.signOutToken = signOutToken ?? csrf
        self.environment = environment
        self.now = now
        self.idempotencyKey = idempotencyKey
    }

    /// A new random key of 32 hexadecimal digits.
    package static func newIdempotencyKey() -> String {
        Hex.encode((0..<16).map { _ -> UInt8 in UInt8.random(in: .min ... .max) })
    }
}

/// The values that every page shows: the frame around the content. Templates use them under the name `site`.
struct SiteContent {
    struct Link {
        let path: String
        let label: String
        let isCurrent: Bool
    }

    struct VisitorContent {
        let name: String
    }

    let title: String
    let name: String
    let home: String
    let icon: String
    let styleSheet: String
    let script: String
    let hasNavigation: Bool
    let navigation: [Link]
    let visitor: VisitorContent?
    let signOut: String
    let isSandbox: Bool
    let csrf: String
    let signOutToken: String
    let idempotencyKey: String

    init(_ page: some HTMLPage, in context: PageContext, _ text: PageText) {
        func link(_ area: PageArea, _ path: String, _ label: TextKey) -> Link {
            Link(path: path, label: text[label], isCurrent: page.area == area)
        }
        switch context.visitor {
        case .signedOut:
            name = text[.siteName]
            home = PortalPaths.home
            navigation = []
            visitor = nil
        case .merchant(let identifier, let merchantName):
            name = text[.siteName]
            home = PortalPaths.home
            navigation = [
                link(.home, PortalPaths.home, .navHome), link(.keys, PortalPaths.keys, .navKeys),
                link(.domains, PortalPaths.domains, .navDomains),
            ]
            visitor = VisitorContent(name: merchantName ?? identifier.rawValue)
        case .operating(let caller):
            name = text[.siteOperatorsName]
            home = PortalPaths.fleet
            navigation = [
                link(.fleet, PortalPaths.fleet, .navFleet), link(.search, PortalPaths.search, .navSearch),
                link(.invitations, PortalPaths.invitations, .navInvitations),
            ]
            visitor = VisitorContent(name: caller)
        }
        hasNavigation = !navigation.isEmpty
        let pageTitle = page.title(text)
        title = text.filled(
            .siteTitlePattern,
            [
                "title": page.isProblem ? text.filled(.siteErrorTitlePattern, ["title": pageTitle]) : pageTitle,
                "site": name,
            ])
        icon = PortalAsset.icon.path
        styleSheet = PortalAsset.styleSheet.path
        script = PortalAsset.script.path
        signOut = PortalPaths.signOut
        isSandbox = context.environment == .sandbox
        csrf = context.csrf ?? ""
        signOutToken = context.signOutToken ?? ""
        idempotencyKey = context.idempotencyKey
    }
}
